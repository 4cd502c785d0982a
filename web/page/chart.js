/* chart.js - a curve and measured points with their spread, in SVG, as wide as there is room. */
import { h, s } from './dom.js';
import { percent } from './words.js';

const LEFT = 62, RIGHT = 14, TOP = 14, BOTTOM = 42;

function niceStep(most, about) {
    const rough = most / about, power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(times => times * power).find(step => step >= rough);
}

/** From a number to a place, with the ticks of the axis. */
function linear(least, most, from, to, about) {
    const step = niceStep(most - least, about), ticks = [];
    for (let tick = Math.ceil(least / step) * step; tick <= most * (1 + 1e-9); tick += step)
        ticks.push(tick);
    return { at: x => from + (to - from) * (x - least) / (most - least), ticks };
}

function logarithmic(least, most, from, to, base) {
    const at = x => from + (to - from) * Math.log(Math.max(x, least) / least) / Math.log(most / least);
    const ticks = [];
    for (let i = Math.ceil(Math.log(least) / Math.log(base) - 1e-9); base ** i <= most * (1 + 1e-9); i++)
        ticks.push(base ** i);
    return { at, ticks };
}

const path = points => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

export class Chart {
    #svg = s('svg', { role: 'img' });
    #table = h('details', { class: 'table' }, h('summary', {}, 'The curve as a table'));
    #last = null;

    element = h('div', { class: 'chart' }, this.#svg, this.#table);

    constructor() {
        new ResizeObserver(() => this.#last && this.draw(this.#last)).observe(this.element);
    }

    /** { name, x: { name, least, most, now, isLog }, isLog, curve: [[x, rate]], dots: [{ x, mean,
     * lowest, highest }] }. */
    draw(picture) {
        this.#last = picture;
        const width = Math.max(260, this.element.clientWidth), height = width < 520 ? 280 : 380;
        const { x: axis, curve, dots } = picture;
        const right = width - RIGHT, bottom = height - BOTTOM;
        const x = axis.isLog ? logarithmic(axis.least, axis.most, LEFT, right, width < 520 ? 4 : 2)
            : linear(axis.least, axis.most, LEFT, right, width < 520 ? 5 : 10);
        const rates = [...curve.map(([, rate]) => rate), ...dots.map(dot => dot.highest)];
        const top = Math.min(1, Math.max(0.01, ...rates));
        const least = 10 ** Math.max(-5, Math.floor(Math.log10(Math.max(1e-5, Math.min(...curve.map(([, rate]) => rate))))));
        const y = picture.isLog ? logarithmic(least, 10 ** Math.ceil(Math.log10(top)), bottom, TOP, 10)
            : linear(0, top, bottom, TOP, 5);
        const texts = (tick, properties) => s('text', properties, tick);

        this.#svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
        this.#svg.setAttribute('aria-label', `${picture.name}. The table below has the numbers.`);
        this.#svg.replaceChildren(
            s('g', { class: 'grid' },
                ...y.ticks.map(tick => s('path', { d: `M${LEFT} ${y.at(tick)}H${right}` }))),
            s('g', { class: 'ticks' },
                ...y.ticks.map(tick => texts(percent(tick), { x: LEFT - 8, y: y.at(tick) + 4, 'text-anchor': 'end' })),
                ...x.ticks.map(tick => texts(Math.round(tick).toLocaleString('en'), { x: x.at(tick), y: bottom + 18, 'text-anchor': 'middle' })),
                texts(axis.name, { x: (LEFT + right) / 2, y: height - 6, 'text-anchor': 'middle', class: 'axis' })),
            s('path', { class: 'now-line', d: `M${x.at(axis.now)} ${TOP}V${bottom}` }),
            s('path', { class: 'curve', d: path(curve.map(([at, rate]) => [x.at(at), y.at(rate)])) }),
            s('g', { class: 'dots' }, ...dots.map(dot => s('g', {},
                s('path', { d: `M${x.at(dot.x)} ${y.at(dot.lowest)}V${y.at(dot.highest)}` }),
                s('circle', { cx: x.at(dot.x), cy: y.at(dot.mean), r: 4 })))));
        this.#fillTable(picture);
    }

    #fillTable({ x, curve, dots }) {
        const predicted = new Map(curve);
        this.#table.querySelector('div')?.remove();
        this.#table.append(h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of rates' },
            h('table', {},
                h('thead', {}, h('tr', {}, [x.name, 'predicted', 'measured', 'lowest', 'highest']
                    .map(name => h('th', { scope: 'col' }, name)))),
                h('tbody', {}, dots.map(dot => h('tr', {}, [dot.x.toLocaleString('en'), percent(predicted.get(dot.x)),
                    ...[dot.mean, dot.lowest, dot.highest].map(percent)].map(text => h('td', {}, text))))))));
    }
}
