/* play.js - the workbench: any kind, any size, any words, and files. */
import { button, field, h, slid, uniqueId } from './dom.js';
import { Bench } from './bench.js';
import { factList, percent, plural } from './words.js';

const SAMPLE = ['apple', 'pear', 'plum', 'cherry', 'quince'];
const NUMBERS = ['1', '4', '6'];
const RATES = [0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.004, 0.001, 1e-4, 1e-5, 1e-6];
const MAGIC = '\x89TM'; // of images and collections

/** Kinds by what they can do; the first that fits. */
const FAMILIES = [
    ['To study: another does it better', can => can('to-study')],
    ['Exact', can => can('exact') || can('exclude')],
    ['That learn from mistakes', can => can('adapt')],
    ['That count', can => can('count') && can('add') && !can('remove')],
    ['That add and remove', can => can('remove')],
    ['That add', can => can('add')],
    ['Made from all words at once', () => true],
];

function kindMenu(kinds) {
    const families = FAMILIES.map(([name]) => h('optgroup', { label: name }));
    for (const { name, abilities } of kinds)
        families[FAMILIES.findIndex(([, fits]) => fits(ability => abilities.includes(ability)))]
            .append(h('option', { value: name }, name));
    return h('select', {}, families);
}

function nearestRate(fpr) {
    const distances = RATES.map(rate => Math.abs(Math.log(rate / fpr)));
    return distances.indexOf(Math.min(...distances));
}

const mapOf = words => new Map(words.map(word => [word, { times: 1, value: 1 }]));
const startsWith = (bytes, text) =>
    [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));

class Play {
    #bench;
    #kinds;
    #kind;
    #summary = h('p', { class: 'hint' });
    #keys = h('input', { type: 'number', min: '1', max: '1000000', step: '1', value: '8' });
    #rate = h('input', { type: 'range', min: '0', max: RATES.length - 1, step: '1', value: '3' });
    #rateText = h('output', {});
    #grows = h('input', { type: 'checkbox', id: uniqueId('grows') });
    #growsField = h('div', { class: 'check' }, this.#grows,
        h('label', { for: this.#grows.id }, 'Let it grow when it is full'));
    #excluded = h('input', { type: 'text', value: 'peach grape melon' });
    #excludedField = field('Strangers that it must refuse', this.#excluded);
    #facts = h('dl', { class: 'facts' });
    #peel = this.#action('Peel step by step', bench => bench.peel());
    #rotate = this.#action('Rotate', bench => bench.rotate());
    #others = mapOf(NUMBERS); // words for kinds that take no others, or the other way round
    #isIndexed = false;

    constructor(library) {
        this.#bench = new Bench(library);
        this.#kinds = library.kinds();
        this.#kind = kindMenu(this.#kinds);
        this.#bench.onChange = () => this.#show();
        for (const control of [this.#kind, this.#keys, this.#grows, this.#excluded])
            control.addEventListener('change', () => this.#apply());
        this.#rate.addEventListener('input', () => this.#apply());
        this.element = h('div', { class: 'play' },
            this.#intro(), this.#settings(), this.#bench.element, this.#aside());
        this.#takeDrops();
        this.#bench.words = mapOf(SAMPLE);
        this.#bench.make();
    }

    #action(text, does) {
        return button(text, () => this.#bench.attempt(() => does(this.#bench)));
    }

    // ---- Layout ----------------------------------------------------------

    #intro() {
        return h('div', { class: 'intro' },
            h('h1', { tabindex: '-1' }, 'A filter, live'),
            h('p', { class: 'lead' }, 'Add words and watch the cells. Ask for any word, and see ' +
                'why the filter says yes or no.'));
    }

    #settings() {
        return h('section', { class: 'settings', 'aria-label': 'The filter' },
            field('Kind', this.#kind), this.#summary,
            h('div', { class: 'pair' },
                field('Planned keys, n', this.#keys),
                slid('False positive rate', this.#rate, this.#rateText)),
            this.#growsField, this.#excludedField);
    }

    #aside() {
        return h('section', { class: 'aside', 'aria-label': 'Facts and files' },
            this.#facts,
            h('div', { class: 'buttons' },
                this.#action('Find a false positive', bench => bench.findFalsePositive()),
                this.#peel, this.#rotate,
                this.#action('Save image', () => this.#save()),
                this.#action('Start again', bench => {
                    bench.words.clear();
                    bench.make();
                    bench.say('The filter is empty.');
                })),
            this.#chooser());
    }

    #chooser() {
        const chooser = h('input', { type: 'file', id: uniqueId('file'), onchange: () => {
            if (chooser.files[0])
                this.#open(chooser.files[0]);
            chooser.value = '';
        } });
        return h('div', { class: 'drop' },
            h('label', { for: chooser.id }, 'Open a word list or a .tamis image'), chooser,
            h('p', { class: 'hint' },
                'Or drop the file anywhere on this page. A list has a word on each line.'));
    }

    #takeDrops() {
        const { element } = this;
        element.addEventListener('dragover', event => {
            event.preventDefault();
            element.classList.add('over');
        });
        element.addEventListener('dragleave', () => element.classList.remove('over'));
        element.addEventListener('drop', event => {
            event.preventDefault();
            element.classList.remove('over');
            if (event.dataTransfer.files[0])
                this.#open(event.dataTransfer.files[0]);
        });
    }

    // ---- Settings --------------------------------------------------------

    /** The filter becomes what the controls say; if that is refused, they say what it is. */
    #apply() {
        const bench = this.#bench, before = bench.options, wasKnown = bench.isKnown;
        bench.options = {
            kind: this.#kind.value,
            keys: Math.max(1, Math.floor(Number(this.#keys.value)) || 1),
            fpr: RATES[this.#rate.value],
        };
        if (this.#grows.checked && bench.can('grow'))
            bench.options.can = ['grow'];
        bench.excluded = this.#excluded.value.split(/[\s,]+/).filter(Boolean);
        this.#changeWords();
        bench.attempt(() => {
            try {
                bench.make();
                bench.say(wasKnown ? '' : 'Made anew, without what was in the file.');
            } catch (error) {
                bench.options = before;
                this.#changeWords();
                this.#show();
                throw error;
            }
        });
    }

    /** Numbers for kinds that hold nothing else, words for the others. */
    #changeWords() {
        const bench = this.#bench, isIndexed = bench.can('indexed');
        if (isIndexed !== this.#isIndexed)
            [this.#others, bench.words] = [bench.words, this.#others];
        this.#isIndexed = isIndexed;
    }

    #show() {
        const bench = this.#bench, { kind, keys, fpr } = bench.options;
        this.#kind.value = kind;
        this.#keys.value = keys;
        if (RATES[this.#rate.value] !== fpr)
            this.#rate.value = nearestRate(fpr);
        this.#rateText.textContent = percent(RATES[this.#rate.value]);
        this.#rate.setAttribute('aria-valuetext', this.#rateText.textContent);
        this.#summary.textContent = `${this.#kinds.find(({ name }) => name === kind).summary}.`;
        this.#excludedField.hidden = !bench.can('exclude');
        this.#growsField.hidden = !bench.can('grow');
        this.#rotate.hidden = !bench.can('rotate');
        this.#peel.hidden = !bench.canPeel;
        this.#tellFacts(bench.filter.info());
    }

    #tellFacts({ plan, count, fill, fpr }) {
        this.#facts.replaceChildren(...factList({
            Keys: `${count.toLocaleString('en')} of ${plan.capacity.toLocaleString('en')}`,
            Payload: plural(plan.bytes, 'byte'),
            'Bits per planned key': (8 * plan.bytes / plan.capacity).toFixed(1),
            'In use': percent(fill),
            'Rate now': percent(fpr),
            'Rate when full': percent(plan.fpr),
        }));
    }

    // ---- Files -----------------------------------------------------------

    #save() {
        const name = `${this.#bench.options.kind}.tamis`;
        const href = URL.createObjectURL(new Blob([this.#bench.filter.toBytes()]));
        h('a', { href, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(href), 1000);
        this.#bench.say(`Saved as ${name}. Try: `,
            h('code', {}, `echo pear | tamis query ${name}`));
    }

    async #open(file) {
        const bench = this.#bench, bytes = new Uint8Array(await file.arrayBuffer());
        bench.attempt(() => {
            if (file.name.endsWith('.tamis') || startsWith(bytes, MAGIC)) {
                bench.open(bytes);
                bench.say(`${file.name} is open: ${plural(bench.filter.info().count, 'key')}.`);
                return;
            }
            const words = new TextDecoder().decode(bytes).split(/\r?\n/).filter(Boolean);
            bench.fill(words);
            bench.say(`${file.name}: ${plural(bench.words.size, 'word')} are in the filter.`);
        });
    }
}

export const playView = library => new Play(library);
