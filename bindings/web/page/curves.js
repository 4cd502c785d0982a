/* curves.js - the rate that a Bloom filter should have, and the rate that it has: predicted by the
 * library's plans, measured with its filters, over n, k or m. */
import { button, field, h, slid } from './dom.js';
import { Chart } from './chart.js';
import { factList, percent } from './words.js';

const FILTERS = 6; // for each dot
const STRANGERS = 4000; // asked in each of them
const DOTS = 14;
const POINTS = 80; // of the curve

/** The numbers of a Bloom filter: on the slider, below the chart, from, to, at first. */
const NUMBERS = {
    n: { label: 'Keys, n', axis: 'keys in the filter, n', least: 8, most: 4096, first: 128 },
    k: { label: 'Hash functions, k', axis: 'hash functions, k', least: 1, most: 20, first: 4 },
    m: { label: 'Bits, m', axis: 'bits of the filter, m', least: 64, most: 16384, first: 1024 },
};

// ---- Rates ---------------------------------------------------------------

const optionsOf = (kind, { m, n, k }) => ({ kind, bits: m, keys: n, hashes: k, hash: 'raw' });

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

const integersFrom = (first, n) => BigUint64Array.from({ length: n }, (_, i) => BigInt(first + i));

function measure(library, kind, numbers, trial) {
    const keys = integersFrom(0, numbers.n), strangers = integersFrom(2 ** 32, STRANGERS);
    const rates = Array.from({ length: FILTERS }, (_, i) => {
        const seed = 1 + i + FILTERS * trial;
        const filter = library.Filter.build({ ...optionsOf(kind, numbers), seed }, keys);
        const found = filter.hasMany(strangers).filter(Boolean).length;
        filter.free();
        return found / STRANGERS;
    });
    return {
        mean: rates.reduce((sum, rate) => sum + rate) / FILTERS,
        lowest: Math.min(...rates),
        highest: Math.max(...rates),
    };
}

// ---- Places on the axis --------------------------------------------------

const ascending = places => [...new Set(places)].sort((a, b) => a - b);

/** n whole numbers from least to most; evenly, or evenly by their ratio. */
function spread({ least, most, isLog }, n) {
    const at = part => (isLog ? least * (most / least) ** part : least + (most - least) * part);
    return ascending(Array.from({ length: n }, (_, i) => Math.round(at(i / (n - 1)))));
}

/** The axis of that number, from where to where if the sliders stand there. */
function axisOf(name, now) {
    const { axis, most } = NUMBERS[name];
    return {
        name: axis,
        least: name === 'm' ? NUMBERS.m.least : 1,
        most: name === 'n' ? Math.max(32, 3 * now.n) : most,
        isLog: name === 'm',
        now: now[name],
    };
}

// ---- Controls ------------------------------------------------------------

/** Moves by steps of one, or by fourths of a doubling. */
function slider(name, onInput) {
    const { label, least, most, first } = NUMBERS[name], isLinear = name === 'k';
    const toNumber = at => (isLinear ? Number(at) : Math.round(least * 2 ** (at / 4)));
    const toPlace = number => (isLinear ? number : Math.round(4 * Math.log2(number / least)));
    const control = h('input',
        { type: 'range', min: toPlace(least), max: toPlace(most), step: 1, value: toPlace(first) });
    const output = h('output', {});
    const tell = () => {
        output.textContent = toNumber(control.value).toLocaleString('en');
        control.setAttribute('aria-valuetext', output.textContent);
    };
    control.addEventListener('input', () => {
        tell();
        onInput();
    });
    tell();
    return { get: () => toNumber(control.value), element: slid(label, control, output) };
}

function radio(name, isChecked) {
    const id = `over-${name}`;
    return h('span', {},
        h('input', { type: 'radio', name: 'axis', id, value: name, checked: isChecked }),
        h('label', { for: id }, NUMBERS[name].label));
}

class Curves {
    #library;
    #chart = new Chart();
    #kind;
    #sliders = {};
    #radios = h('fieldset', { class: 'radios' }, h('legend', {}, 'Over'),
        Object.keys(NUMBERS).map((name, i) => radio(name, i === 0)));
    #isLog = h('input', { type: 'checkbox', checked: true, id: 'log-scale' });
    #facts = h('dl', { class: 'facts' });
    #status = h('p', { class: 'hint', role: 'status' });
    #trial = 0;
    #run = 0; // a later one ends those before
    #timer = 0;

    constructor(library) {
        this.#library = library;
        this.#kind = h('select', {}, library.kinds()
            .filter(({ name }) => predict(library, name, { m: 1024, n: 100, k: 4 }) !== null)
            .map(({ name }) => h('option', { value: name }, name)));
        for (const name of ['m', 'n', 'k'])
            this.#sliders[name] = slider(name, () => this.#drawSoon());
        this.#radios.append(h('span', {}, this.#isLog,
            h('label', { for: 'log-scale' }, 'rates by powers of ten')));
        for (const control of [this.#kind, this.#radios])
            control.addEventListener('change', () => this.#draw());
        this.element = h('div', { class: 'curves' },
            this.#intro(), this.#settings(), this.#middle(), this.#aside());
        this.#draw();
    }

    #intro() {
        return h('div', { class: 'intro' },
            h('h1', { tabindex: '-1' }, 'Predicted and measured'),
            h('p', { class: 'lead' }, 'How often does a stranger pass? The line is what the plan ' +
                'predicts, each dot what filters do that are built and asked here, while you ' +
                'look.'));
    }

    #settings() {
        return h('section', { class: 'settings', 'aria-label': 'Numbers' },
            field('Kind', this.#kind), Object.values(this.#sliders).map(({ element }) => element));
    }

    #middle() {
        return h('section', { class: 'bench', 'aria-label': 'Chart' },
            this.#radios, this.#chart.element, this.#status);
    }

    #aside() {
        return h('section', { class: 'aside', 'aria-label': 'Facts' }, this.#facts,
            h('div', { class: 'buttons' }, button('Measure again', () => {
                this.#trial++;
                this.#draw();
            })));
    }

    #numbers() {
        const { m, n, k } = this.#sliders;
        return { m: m.get(), n: n.get(), k: k.get() };
    }

    #predict(numbers) {
        return predict(this.#library, this.#kind.value, numbers);
    }

    #bestHashes(now) {
        const rates = Array.from({ length: NUMBERS.k.most },
            (_, i) => this.#predict({ ...now, k: i + 1 }));
        const possible = rates.filter(rate => rate !== null);
        return possible.length ? rates.indexOf(Math.min(...possible)) + 1 : 'none';
    }

    #tellFacts(now, measured) {
        const predicted = this.#predict(now);
        this.#facts.replaceChildren(...factList({
            'Bits per key, m / n': (now.m / now.n).toFixed(2),
            'Predicted rate': predicted === null ? 'no such plan' : percent(predicted),
            'Measured rate': measured ? percent(measured.mean) : '...',
            'Best k by the plans': String(this.#bestHashes(now)),
            '(m / n) ln 2': (now.m / now.n * Math.LN2).toFixed(2),
        }));
    }

    #drawSoon() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#draw(), 60);
    }

    /** The curve at once, then dot by dot, so that the page stays alive. */
    async #draw() {
        const run = ++this.#run, now = this.#numbers();
        const name = this.#radios.querySelector('[type=radio]:checked').value;
        const x = axisOf(name, now);
        const places = ascending([...spread(x, name === 'k' ? x.most : DOTS), now[name]]);
        const curve = ascending([...places, ...spread(x, name === 'k' ? x.most : POINTS)])
            .map(at => [at, this.#predict({ ...now, [name]: at })])
            .filter(([, rate]) => rate !== null);
        const picture = {
            name: `False positive rate of ${this.#kind.value} over ${x.name}`,
            x, curve, dots: [], isLog: this.#isLog.checked,
        };
        this.#tellFacts(now, null);
        this.#chart.draw(picture);
        this.#status.textContent = 'Measuring...';
        for (const at of places.filter(place => curve.some(([point]) => point === place))) {
            await new Promise(resolve => setTimeout(resolve));
            if (run !== this.#run)
                return;
            this.#dot(picture, now, name, at);
        }
        this.#status.textContent = `Measured: each dot is the mean of ${FILTERS} filters, asked ` +
            `for ${STRANGERS.toLocaleString('en')} strangers each; its line goes from the lowest ` +
            'to the highest.';
    }

    #dot(picture, now, name, at) {
        const numbers = { ...now, [name]: at };
        const measured = measure(this.#library, this.#kind.value, numbers, this.#trial);
        picture.dots.push({ x: at, ...measured });
        if (at === now[name])
            this.#tellFacts(now, measured);
        this.#chart.draw(picture);
    }
}

export const curvesView = library => new Curves(library);
