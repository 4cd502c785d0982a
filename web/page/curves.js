/* curves.js - the rate that a Bloom filter should have, and the rate that it has: predicted by the
 * library's plans, measured with its filters, over n, k or m. */
import { button, field, h, slid } from './dom.js';
import { Chart } from './chart.js';
import { percent } from './words.js';

const FILTERS = 6; // for each dot
const STRANGERS = 4000; // asked in each of them
const DOTS = 14;
const POINTS = 80; // of the curve
const MOST = { m: 16384, n: 4096, k: 20 };
const NAMES = { m: 'Bits, m', n: 'Keys, n', k: 'Hash functions, k' };
const AXES = { n: 'keys in the filter, n', k: 'hash functions, k', m: 'bits of the filter, m' };

const optionsOf = (kind, { m, n, k }) => ({ kind, bits: m, keys: n, hashes: k, hash: 'raw' });

/** Kinds whose geometry can be chosen. */
function takesBits(library, kind) {
    try {
        library.plan(optionsOf(kind, { m: 1024, n: 100, k: 4 }));
        return true;
    } catch {
        return false;
    }
}

/** The rate that a plan predicts; none if there is no such plan. */
function predict(library, kind, numbers) {
    try {
        return library.plan(optionsOf(kind, numbers)).fpr;
    } catch (error) {
        if (error instanceof library.TamisError)
            return null;
        throw error;
    }
}

const numbersFrom = (first, n) => BigUint64Array.from({ length: n }, (_, i) => BigInt(first + i));

function measure(library, kind, numbers, trial) {
    const keys = numbersFrom(0, numbers.n), strangers = numbersFrom(2 ** 32, STRANGERS);
    const rates = [];
    for (let i = 0; i < FILTERS; i++) {
        const filter = library.Filter.build({ ...optionsOf(kind, numbers), seed: 1 + i + FILTERS * trial }, keys);
        rates.push(filter.hasMany(strangers).filter(Boolean).length / STRANGERS);
        filter.free();
    }
    return {
        mean: rates.reduce((sum, rate) => sum + rate) / FILTERS,
        lowest: Math.min(...rates),
        highest: Math.max(...rates),
    };
}

/** n whole numbers from least to most; evenly, or evenly by their ratio. */
function spread(least, most, isLog, n) {
    const at = i => (isLog ? least * (most / least) ** (i / (n - 1)) : least + (most - least) * i / (n - 1));
    return Array.from({ length: n }, (_, i) => Math.round(at(i)));
}

const ascending = places => [...new Set(places)].sort((a, b) => a - b);

/** A slider that moves by ratios. */
function slider(name, least, most, value, onInput) {
    const steps = 4 * Math.log2(most / least);
    const control = h('input', { type: 'range', min: 0, max: steps, step: 1, value: Math.round(4 * Math.log2(value / least)) });
    const output = h('output', {});
    const get = () => Math.round(least * 2 ** (control.value / 4));
    const tell = () => {
        output.textContent = get().toLocaleString('en');
        control.setAttribute('aria-valuetext', output.textContent);
    };
    control.addEventListener('input', () => {
        tell();
        onInput();
    });
    tell();
    return { get, element: slid(NAMES[name], control, output) };
}

export function curvesView(library) {
    const chart = new Chart();
    const kind = h('select', {}, library.kinds().filter(({ name }) => takesBits(library, name))
        .map(({ name }) => h('option', { value: name }, name)));
    const facts = h('dl', { class: 'facts' });
    const status = h('p', { class: 'hint', role: 'status' });
    const scale = h('input', { type: 'checkbox', checked: true, id: 'log-scale' });
    const axes = Object.keys(AXES).map(name => {
        const id = `over-${name}`;
        return h('span', {}, h('input', { type: 'radio', name: 'axis', id, value: name, checked: name === 'n' }),
            h('label', { for: id }, NAMES[name]));
    });
    let trial = 0, run = 0, timer = 0;

    const later = () => {
        clearTimeout(timer);
        timer = setTimeout(draw, 60);
    };
    const controls = {
        m: slider('m', 64, MOST.m, 1024, later),
        n: slider('n', 8, MOST.n, 128, later),
        k: (() => {
            const control = h('input', { type: 'range', min: 1, max: MOST.k, step: 1, value: 4 });
            const output = h('output', {}, '4');
            control.addEventListener('input', () => {
                output.textContent = control.value;
                later();
            });
            return { get: () => Number(control.value), element: slid(NAMES.k, control, output) };
        })(),
    };
    const numbers = () => ({ m: controls.m.get(), n: controls.n.get(), k: controls.k.get() });
    const axisName = () => axes.map(span => span.firstChild).find(radio => radio.checked).value;

    function axisOf(name, now) {
        const isLog = name === 'm';
        const least = name === 'm' ? 64 : 1;
        const most = name === 'k' ? MOST.k : name === 'm' ? MOST.m : Math.max(32, 3 * now.n);
        return { name: AXES[name], least, most, isLog, now: now[name] };
    }

    function tellFacts(now, measured) {
        const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
        const predicted = predict(library, kind.value, now);
        const best = Array.from({ length: MOST.k }, (_, i) => ({ k: i + 1, rate: predict(library, kind.value, { ...now, k: i + 1 }) }))
            .filter(({ rate }) => rate !== null).reduce((a, b) => (b.rate < a.rate ? b : a), { rate: 2 });
        facts.replaceChildren(
            fact('Bits per key, m / n', (now.m / now.n).toFixed(2)),
            fact('Predicted rate', predicted === null ? 'no such plan' : percent(predicted)),
            fact('Measured rate', measured ? percent(measured.mean) : '...'),
            fact('Best k by the plans', `${best.k ?? 'none'}`),
            fact('(m / n) ln 2', (now.m / now.n * Math.LN2).toFixed(2)));
    }

    async function draw() {
        const mine = ++run, now = numbers(), name = axisName(), x = axisOf(name, now);
        const places = name === 'k' ? Array.from({ length: MOST.k }, (_, i) => i + 1)
            : ascending([...spread(x.least, x.most, x.isLog, DOTS), now[name]]);
        const numbersAt = at => ({ ...now, [name]: at });
        const between = name === 'k' ? places : ascending([...places, ...spread(x.least, x.most, x.isLog, POINTS)]);
        const curve = between.map(at => [at, predict(library, kind.value, numbersAt(at))]).filter(([, rate]) => rate !== null);
        const dots = [];
        const picture = () => ({ name: `False positive rate of ${kind.value} over ${x.name}`, x, isLog: scale.checked, curve, dots });

        tellFacts(now, null);
        if (curve.length)
            chart.draw(picture());
        status.textContent = 'Measuring...';
        for (const at of curve.map(([place]) => place).filter(place => places.includes(place))) {
            await new Promise(resolve => setTimeout(resolve));
            if (mine !== run)
                return;
            const measured = measure(library, kind.value, numbersAt(at), trial);
            dots.push({ x: at, ...measured });
            if (at === now[name])
                tellFacts(now, measured);
            chart.draw(picture());
        }
        status.textContent = `Measured: each dot is the mean of ${FILTERS} filters, asked for ` +
            `${STRANGERS.toLocaleString('en')} strangers each; its line goes from the lowest to the highest.`;
    }

    for (const control of [kind, scale, ...axes.map(span => span.firstChild)])
        control.addEventListener('change', draw);
    const element = h('div', { class: 'curves' },
        h('div', { class: 'intro' },
            h('h1', { tabindex: '-1' }, 'Predicted and measured'),
            h('p', { class: 'lead' }, 'How often does a stranger pass? The line is what the plan predicts, ' +
                'each dot what filters do that are built and asked here, while you look.')),
        h('section', { class: 'settings', 'aria-label': 'Numbers' },
            field('Kind', kind), controls.m.element, controls.n.element, controls.k.element),
        h('section', { class: 'bench', 'aria-label': 'Chart' },
            h('fieldset', { class: 'radios' }, h('legend', {}, 'Over'), axes,
                h('span', {}, scale, h('label', { for: 'log-scale' }, 'rates by powers of ten'))),
            chart.element, status),
        h('section', { class: 'aside', 'aria-label': 'Facts' }, facts,
            h('div', { class: 'buttons' }, button('Measure again', () => {
                trial++;
                draw();
            }))));
    draw();
    return element;
}
