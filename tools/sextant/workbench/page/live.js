// The live page: forms start jobs, one at a time; events of the running one are polled, and nothing is while none runs.
if (document.body.dataset.live === 'true') {
  const status = document.getElementById('status'), problem = document.getElementById('problem');
  const cancel = document.getElementById('cancel');
  let state = { job: null }, nextEvent = 0, lastResult = 0, timer = null, underWay = null, lost = false, liveChart = null, stage = '';

  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }

  async function ask(path, options = {}) {
    const headers = { 'X-Sextant-Token': sessionStorage.getItem('token') || '', ...(options.headers || {}) };
    let answer;
    try {
      answer = await fetch(path, { ...options, headers, cache: 'no-store' });
    } catch {
      throw Object.assign(new Error('The server does not answer. Is sextant workbench still running?'), { lost: true });
    }
    if (answer.ok) return answer;
    let sentence = `${answer.status} ${answer.statusText}`;
    try { sentence = (await answer.json()).error || sentence; } catch { /* no JSON: the status says it */ }
    throw new Error(sentence);
  }
  const askJson = async (path, options) => (await ask(path, options)).json();
  const postJson = (path, body) => askJson(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });

  function complain(error) { problem.textContent = error ? error.message : ''; }

  function fieldsOf(form) {
    const fields = {};
    for (const input of form.elements) {
      if (!input.name || input.disabled) continue;
      if (input.type === 'checkbox') { if (input.checked) fields[input.name] = true; }
      else if (input.value !== '') fields[input.name] = input.value;
    }
    if (fields.generate && form.elements.matrix) delete fields.matrix;
    if (!fields.generate && form.elements.matrix) delete fields.n;
    return fields;
  }

  async function showCommand(form) {
    try {
      const { command } = await postJson('/api/command', { action: form.dataset.action, fields: fieldsOf(form) });
      form.querySelector('.command code').textContent = command;
      form.querySelector('.command').hidden = false;
    } catch (error) {
      form.querySelector('.command').hidden = true;
    }
  }

  // A button that is disabled loses the keyboard's focus: it has it again when it can be pressed again.
  let left = null;
  function setBusy(busy) {
    const focused = document.activeElement;
    if (busy && focused && focused.matches('form button[type=submit]')) left = focused;
    for (const button of document.querySelectorAll('form button[type=submit]')) button.disabled = busy || state.read_only;
    for (const button of document.querySelectorAll('[data-needs-model] button')) button.disabled ||= !state.has_model;
    cancel.hidden = !busy;
    cancel.disabled = state.read_only;
    if (busy || !left) return;
    if (document.activeElement === document.body && !left.disabled) left.focus({ preventScroll: true });
    left = null;
  }

  function startLive(action) {
    if (liveChart) liveChart.destroy();
    liveChart = null;
    for (const figure of document.querySelectorAll('figure.live')) figure.hidden = figure.dataset.liveOf !== action;
    const figure = document.querySelector(`figure.live[data-live-of="${action}"]`);
    if (!figure) return;
    figure.hidden = !chartsAreThere();
    if (figure.hidden) return;
    const solving = action === 'generate';
    const series = (name, line, marks) => ({ name, points: [], line, marks, guide: false, colour: null });
    try {
      liveChart = chartOf(figure.querySelector('canvas'), {
        title: solving ? 'Convergence' : 'Measured runs',
        x: { label: solving ? 'iteration' : 'working set (bytes)', log: !solving },
        y: { label: solving ? 'relative residual' : 'seconds', log: true },
        series: solving ? [series('', true, false)] : [series('measured', false, true), series('fitted', false, true)],
      });
    } catch {  // another Chart.js than the page was written for
      figure.hidden = true;
    }
  }

  function takeEvent(event) {
    if (event.stage) stage = event.stage;
    if (event.event === 'iteration') {
      const residual = event.residual ?? NaN;  // JSON has no number for one that is not finite
      stage = `iteration ${event.iteration}, residual ${residual.toExponential(2)}`;
      if (liveChart) liveChart.data.datasets[0].data.push({ x: event.iteration, y: residual });
    } else if (event.event === 'timing') {
      stage = `timing solve ${event.solve} of ${event.of}`;
    } else if (event.event === 'run') {
      stage = `run ${event.run} of ${event.of}` + (event.error === null ? '' : `, error ${(100 * event.error).toFixed(1)} %`);
      if (liveChart) {
        liveChart.data.datasets[0].data.push({ x: event.working_set, y: event.seconds });
        if (event.fitted) liveChart.data.datasets[1].data.push({ x: event.working_set, y: event.fitted });
      }
    } else if (event.event === 'progress') {
      stage = `${Math.round(100 * event.done)} %, ${Math.round(event.seconds_left)} s left: ${event.what}`;
    }
  }

  function insertResult(result) {
    lastResult = Math.max(lastResult, result.id);
    const place = document.querySelector(`#${result.view} .results`);
    if (place.querySelector(`[data-id="${result.id}"]`)) return;
    place.insertAdjacentHTML('afterbegin', result.html);
    const article = place.firstElementChild;
    for (const link of article.querySelectorAll('a[data-file]')) {
      link.href = '#';
      link.addEventListener('click', event => { event.preventDefault(); saveFile(result.id, link.dataset.file).catch(complain); });
    }
    drawCharts(article);
  }

  async function save(path, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await (await ask(path)).blob());
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  const saveFile = (id, name) => save(`/api/file?result=${id}&name=${encodeURIComponent(name)}`, name);

  // One request at a time, so that no event is taken twice.
  async function refresh() {
    while (underWay) await underWay.catch(() => {});
    underWay = takeState();
    try {
      await underWay;
    } finally {
      underWay = null;
    }
  }

  async function takeState() {
    const before = state.job;
    state = await askJson(`/api/state?event=${nextEvent}&result=${lastResult}&job=${before ? before.id : 0}`);
    if (state.job && (!before || before.id !== state.job.id)) { startLive(state.job.action); stage = ''; }
    nextEvent = state.job ? state.job.next_event : 0;
    for (const event of state.job ? state.job.events : []) takeEvent(event);
    if (liveChart && state.job) liveChart.update();
    state.results.forEach(insertResult);
    const running = Boolean(state.job && state.job.running);
    if (liveChart && !running && liveChart.data.datasets[0].data.length === 0) startLive('');  // it was over too soon
    status.textContent = running ? `${state.job.action}: ${stage || 'running'}` : state.read_only ? 'read-only' : 'ready';
    setBusy(running);
    if (lost) complain(null);
    lost = false;
    if (state.unsaved) complain(new Error(state.unsaved));
    if (running) pollAfter(250);
  }

  function pollAfter(milliseconds) {
    clearTimeout(timer);
    timer = setTimeout(() => refresh().catch(failed), milliseconds);
  }
  // A job goes on while a request is lost, so the page asks again; a refusal is an answer.
  function failed(error) {
    complain(error);
    lost = Boolean(error.lost);
    if (lost && state.job && state.job.running) pollAfter(1000);
  }

  async function start(form) {
    complain(null);
    setBusy(true);
    try {
      await postJson('/api/jobs', { action: form.dataset.action, fields: fieldsOf(form) });
    } finally {
      await refresh();
    }
  }

  async function upload(input) {
    let name = '';
    for (const file of input.files) {
      complain(null);
      if (file.size > 64 * 2 ** 20) throw new Error('An upload may have 64 MiB: name the file by its path on the server.');
      ({ name } = await askJson(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file }));
    }
    if (name === '') return;
    const form = input.closest('form');
    form.elements[input.dataset.to].value = input.dataset.all || name;
    if (form.elements.generate) form.elements.generate.value = '';
    await showCommand(form);
  }

  // Kernels by kind; each kind has operations of its own, or one alone.
  let kindOf = {}, operations = {};
  async function fillKernels() {
    const answer = await askJson('/api/kernels');
    operations = answer.operations;
    kindOf = Object.fromEntries(answer.kernels.map(({ name, kind }) => [name, kind]));
    for (const select of document.querySelectorAll('select[data-kernels]')) {
      const groups = Object.keys(operations).map(kind => Object.assign(document.createElement('optgroup'), { label: kind }));
      for (const { name, kind } of answer.kernels) groups.find(group => group.label === kind).append(new Option(name));
      select.replaceChildren(...answer.kinds.map(kind => groups.find(group => group.label === kind)));
      fillOperations(select.closest('form'));
      await showCommand(select.closest('form'));
    }
  }
  function fillOperations(form) {
    const select = form.querySelector('select[data-operations]'), names = operations[kindOf[form.elements.kernel.value]] || [];
    select.replaceChildren(...(names.length ? names.map(name => new Option(name)) : [new Option('the only one', '')]));
    select.disabled = names.length === 0;
  }

  for (const form of document.querySelectorAll('form[data-action]')) {
    form.insertAdjacentHTML('beforeend', '<p class="command" hidden><code></code></p>');
    form.addEventListener('submit', event => { event.preventDefault(); start(form).catch(complain); });
    form.addEventListener('change', event => {
      const input = event.target;
      if ('kernels' in input.dataset) fillOperations(form);
      // A path that is typed is the matrix that is meant.
      if (input.name === 'matrix' && input.value !== '' && form.elements.generate) form.elements.generate.value = '';
      (input.type === 'file' ? upload(input) : showCommand(form)).catch(complain);
    });
  }
  cancel.addEventListener('click', () => postJson('/api/cancel', {}).then(refresh).catch(complain));
  document.getElementById('save-report').addEventListener('click', () => save('/api/report', 'sextant-report.html').catch(complain));
  // Another browser may have started something meanwhile.
  addEventListener('focus', () => refresh().catch(failed));
  afterPaint(() => {
    refresh().catch(failed);
    document.querySelectorAll('form[data-action]').forEach(showCommand);
    fillKernels().catch(complain);
  });
}
