/* chart.js - a curve and measured points with their spread, in SVG, as wide as there is room. */
import { h, s, tableOf } from './dom.js';
import { percent } from './words.js';

const LEFT = 62, RIGHT = 14, TOP = 14, BOTTOM = 42;
const NARROW = 520; // pixels, where there is room for fewer ticks
const LEAST = 1e-5; // rate at the foot of a logarithmic axis, or above

// ---- Axes: from a number to a place, with ticks --------------------------

function niceStep(most, about) {
    const rough = most / about, power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(times => times * power).find(step => step >= rough);
}

function linear(least, most, from, to, about) {
    const step = niceStep(most - least, about), ticks = [];
    for (let i = Math.ceil(least / step); i * step <= most * (1 + 1e-9); i++)
        ticks.push(i * step);
    return { at: x => from + (to - from) * (x - least) / (most - least), ticks };
}

function logarithmic(least, most, from, to, base) {
    const first = Math.ceil(Math.log(least) / Math.log(base) - 1e-9), ticks = [];
    for (let i = first; base ** i <= most * (1 + 1e-9); i++)
        ticks.push(base ** i);
    const part = x => Math.log(Math.max(x, least) / least) / Math.log(most / least);
    return { at: x => from + (to - from) * part(x), ticks };
}

function numberAxis({ least, most, isLog }, right) {
    const isNarrow = right < NARROW;
    return isLog ? logarithmic(least, most, LEFT, right, isNarrow ? 4 : 2)
        : linear(least, most, LEFT, right, isNarrow ? 5 : 10);
}

function rateAxis({ curve, dots, isLog }, bottom) {
    const rates = curve.map(([, rate]) => rate);
    const most = Math.min(1, Math.max(0.01, ...rates, ...dots.map(dot => dot.highest)));
    if (!isLog)
        return linear(0, most, bottom, TOP, 5);
    const least = Math.max(LEAST, Math.min(0.01, ...rates));
    return logarithmic(10 ** Math.floor(Math.log10(least) + 1e-9),
        10 ** Math.ceil(Math.log10(most) - 1e-9), bottom, TOP, 10);
}

const pathOf = points =>
    points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

// ---- The chart -----------------------------------------------------------

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
        const width = Math.max(260, this.element.clientWidth), height = width < NARROW ? 280 : 380;
        const right = width - RIGHT, bottom = height - BOTTOM;
        const x = numberAxis(picture.x, right), y = rateAxis(picture, bottom);
        this.#svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
        this.#svg.setAttribute('aria-label', `${picture.name}. The table below has the numbers.`);
        const line = tick => s('path', { d: `M${LEFT} ${y.at(tick)}H${right}` });
        const dotAt = dot => s('g', {},
            s('path', { d: `M${x.at(dot.x)} ${y.at(dot.lowest)}V${y.at(dot.highest)}` }),
            s('circle', { cx: x.at(dot.x), cy: y.at(dot.mean), r: 4 }));
        const curve = pathOf(picture.curve.map(([at, rate]) => [x.at(at), y.at(rate)]));
        this.#svg.replaceChildren(
            s('g', { class: 'grid' }, ...y.ticks.map(line)),
            ...this.#texts(picture, x, y, bottom),
            s('path', { class: 'now-line', d: `M${x.at(picture.x.now)} ${TOP}V${bottom}` }),
            s('path', { class: 'curve', d: curve }),
            s('g', { class: 'dots' }, ...picture.dots.map(dotAt)));
        this.#fillTable(picture);
    }

    #texts(picture, x, y, bottom) {
        const text = (at, height, anchor, content, name = '') =>
            s('text', { x: at, y: height, 'text-anchor': anchor, class: name }, content);
        return [
            s('g', { class: 'ticks' },
                ...y.ticks.map(tick => text(LEFT - 8, y.at(tick) + 4, 'end', percent(tick))),
                ...x.ticks.map(tick => text(x.at(tick), bottom + 18, 'middle',
                    Math.round(tick).toLocaleString('en')))),
            text((LEFT + x.at(picture.x.most)) / 2, bottom + 36, 'middle', picture.x.name, 'axis'),
        ];
    }

    #fillTable({ x, curve, dots }) {
        const predicted = new Map(curve);
        this.#table.querySelector('div')?.remove();
        this.#table.append(tableOf('Table of rates',
            [x.name, 'predicted', 'measured', 'lowest', 'highest'],
            dots.map(dot => [dot.x.toLocaleString('en'),
                ...[predicted.get(dot.x), dot.mean, dot.lowest, dot.highest].map(percent)])));
    }
}
