// Links to sections become tabs: arrow keys move, one section is shown. Without scripts all are shown.
const views = [...document.querySelectorAll('#tabs a')].map(tab => tab.hash.slice(1));

function showView(name, focus) {
  for (const view of views) {
    const tab = document.querySelector(`#tabs a[href="#${view}"]`), panel = document.getElementById(view);
    const chosen = view === name;
    tab.setAttribute('aria-selected', String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    panel.hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  afterPaint(() => drawCharts(document.getElementById(name)));
}

function currentView() {
  return views.find(view => !document.getElementById(view).hidden);
}

function makeTabs() {
  const list = document.getElementById('tabs');
  list.setAttribute('role', 'tablist');
  for (const item of list.children) item.setAttribute('role', 'presentation');
  for (const view of views) {
    const tab = list.querySelector(`a[href="#${view}"]`), panel = document.getElementById(view);
    tab.id = `tab-${view}`;
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', view);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', event => { event.preventDefault(); showView(view, true); });
  }
  list.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    const at = views.indexOf(currentView());
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? views.length - 1 : (at + step + views.length) % views.length;
    showView(views[next], true);
  });
}

makeTabs();
showView(views.find(view => document.querySelector(`#${view} .result`)) || 'machine', false);
