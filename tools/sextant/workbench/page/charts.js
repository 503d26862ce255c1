'use strict';
// Plots as charts that answer to the pointer, in the place of the SVG that prints.

// The chart library is most of the page: it stands there as text, and is read when the first chart is drawn.
const nonce = document.currentScript.nonce;
function chartsAreThere() {
  const library = document.getElementById('chart-library');
  if (typeof Chart === 'undefined' && library && library.textContent.trim() !== '') {
    const script = document.createElement('script');
    script.nonce = nonce;
    script.textContent = library.textContent;
    document.head.append(script);  // runs at once
    library.remove();
  }
  return typeof Chart !== 'undefined';
}

const colours = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#888888', '#B8A900'];

// Does it when the page has been painted; one in the background is not painted.
function afterPaint(work) {
  const wait = () => document.hidden ? setTimeout(work) : requestAnimationFrame(() => setTimeout(work));
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', wait);
  else wait();
}

function chartColours() {
  const style = getComputedStyle(document.body);
  return { ink: style.getPropertyValue('--ink').trim(), line: style.getPropertyValue('--line').trim() };
}

function axisOf(axis, look) {
  return {
    type: axis.log ? 'logarithmic' : 'linear',
    title: { display: true, text: axis.label, color: look.ink },
    ticks: { color: look.ink, maxTicksLimit: 9, callback: value => Number(Number(value).toPrecision(3)).toString() },
    grid: { color: look.line },
  };
}

function datasetOf(series, place) {
  const colour = series.guide ? '#888888' : colours[(series.colour ?? place) % colours.length];
  return {
    label: series.name,
    data: series.points.map(point => ({ x: point[0], y: point[1] })),
    showLine: series.line,
    borderColor: colour,
    backgroundColor: colour,
    borderWidth: series.guide ? 1 : 2,
    borderDash: series.guide ? [5, 4] : [],
    pointRadius: series.marks ? 3.5 : 0,
    pointHitRadius: 6,
  };
}

function chartOf(canvas, plot) {
  const look = chartColours();
  let place = 0;
  return new Chart(canvas, {
    type: 'scatter',
    data: { datasets: plot.series.map(series => datasetOf(series, series.guide ? 0 : place++)) },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false,
      scales: { x: axisOf(plot.x, look), y: axisOf(plot.y, look) },
      plugins: {
        title: { display: true, text: plot.title, color: look.ink },
        legend: { labels: { color: look.ink, filter: item => item.text !== '' } },
      },
    },
  });
}

// Charts of what is visible; a hidden canvas has no size.
function drawCharts(root) {
  for (const figure of root.querySelectorAll('figure.chart:not(.drawn)')) {
    if (figure.offsetParent === null) continue;
    if (!chartsAreThere()) return;
    const plot = JSON.parse(figure.querySelector('script').textContent);
    const box = document.createElement('div');
    box.className = 'canvas';
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', plot.title);
    box.append(canvas);
    figure.append(box);
    try {
      chartOf(canvas, plot);
      figure.classList.add('drawn');  // which hides the SVG
    } catch {  // another Chart.js than the page was written for: the SVG stays
      box.remove();
    }
  }
}
