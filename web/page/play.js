/* play.js - the workbench: any kind, any size, any words, and files. */
import { button, field, h, slid, uniqueId } from './dom.js';
import { Bench } from './bench.js';
import { percent, plural } from './words.js';

const SAMPLE = ['apple', 'pear', 'plum', 'cherry', 'quince'];
const NUMBERS = ['1', '4', '6'];
const RATES = [0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.004, 0.001, 1e-4, 1e-5, 1e-6];
const MAGIC = '\x89TM';

/** Kinds by what they can do; the first that fits. */
const FAMILIES = [
    ['Exact', can => can('exact') || can('exclude')],
    ['That learn from mistakes', can => can('adapt')],
    ['That count', can => can('count') && can('add') && !can('remove')],
    ['That add and remove', can => can('remove')],
    ['That add', can => can('add')],
    ['Made from all words at once', () => true],
];

function kindMenu(library) {
    const families = FAMILIES.map(([name]) => h('optgroup', { label: name }));
    for (const kind of library.kinds()) {
        const at = FAMILIES.findIndex(([, fits]) => fits(ability => kind.abilities.includes(ability)));
        families[at].append(h('option', { value: kind.name }, kind.name));
    }
    return h('select', {}, families);
}

const mapOf = words => new Map(words.map(word => [word, { times: 1, value: 1 }]));

function nearestRate(fpr) {
    const distances = RATES.map(rate => Math.abs(Math.log(rate / fpr)));
    return distances.indexOf(Math.min(...distances));
}

export function playView(library) {
    const bench = new Bench(library);
    const kind = kindMenu(library);
    const summary = h('p', { class: 'hint' });
    const keys = h('input', { type: 'number', min: '1', max: '1000000', step: '1', value: '8' });
    const rate = h('input', { type: 'range', min: '0', max: RATES.length - 1, step: '1', value: '3' });
    const rateText = h('output', {});
    const excluded = h('input', { type: 'text', value: 'peach grape melon' });
    const excludedField = field('Strangers that it must refuse', excluded);
    const facts = h('dl', { class: 'facts' });
    const grows = h('input', { type: 'checkbox', id: uniqueId('grows') });
    const growsField = h('div', { class: 'check' }, grows, h('label', { for: grows.id }, 'Let it grow when it is full'));
    const rotate = button('Rotate', () => bench.attempt(() => bench.rotate()));
    const peel = button('Peel step by step', () => bench.attempt(() => bench.peel()));

    function showRate() {
        rateText.textContent = percent(RATES[rate.value]);
        rate.setAttribute('aria-valuetext', percent(RATES[rate.value]));
    }

    /** Numbers for kinds that hold nothing else; the words are kept for the next kind. */
    let others = mapOf(NUMBERS), wasIndexed = false;
    function wordsFit() {
        if (bench.can('indexed') !== wasIndexed)
            [others, bench.words] = [bench.words, others];
        wasIndexed = bench.can('indexed');
    }

    function apply() {
        bench.attempt(() => {
            const before = bench.options;
            bench.options = { kind: kind.value, keys: Math.max(1, Math.floor(Number(keys.value)) || 1), fpr: RATES[rate.value] };
            if (grows.checked && bench.can('grow'))
                bench.options.can = ['grow'];
            bench.excluded = excluded.value.split(/[\s,]+/).filter(Boolean);
            wordsFit();
            try {
                bench.make();
                bench.say();
            } catch (error) {
                bench.options = before;
                wordsFit();
                showControls();
                throw error;
            }
        });
    }

    function showControls() {
        kind.value = bench.options.kind;
        keys.value = bench.options.keys;
        if (RATES[rate.value] !== bench.options.fpr)
            rate.value = nearestRate(bench.options.fpr);
        summary.textContent = library.kinds().find(({ name }) => name === bench.options.kind).summary + '.';
        excludedField.hidden = !bench.can('exclude');
        growsField.hidden = !bench.can('grow');
        rotate.hidden = !bench.can('rotate');
        showRate();
    }

    function fact(name, value) {
        return h('div', {}, h('dt', {}, name), h('dd', {}, value));
    }

    bench.onChange = () => {
        const info = bench.filter.info(), { plan } = info;
        showControls();
        peel.hidden = !bench.canPeel;
        facts.replaceChildren(...[
            fact('Keys', `${info.count.toLocaleString('en')} of ${plan.capacity.toLocaleString('en')}`),
            fact('Payload', plural(plan.bytes, 'byte')),
            fact('Bits per planned key', (8 * plan.bytes / plan.capacity).toFixed(1)),
            fact('In use', percent(info.fill)),
            fact('Rate now', percent(info.fpr)),
            fact('Rate when full', percent(plan.fpr)),
        ]);
    };

    // ---- Files -----------------------------------------------------------

    function save() {
        const name = `${bench.options.kind}.tamis`;
        const link = h('a', {
            href: URL.createObjectURL(new Blob([bench.filter.toBytes()])), download: name,
        });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
        bench.say(`Saved as ${name}. Try: `, h('code', {}, `echo pear | tamis query ${name}`));
    }

    async function open(file) {
        const bytes = new Uint8Array(await file.arrayBuffer());
        bench.attempt(() => {
            if (file.name.endsWith('.tamis') || startsWith(bytes, MAGIC)) {
                bench.open(bytes);
                bench.say(`${file.name} is open: ${plural(bench.filter.info().count, 'key')}.`);
                return;
            }
            const words = [...new Set(new TextDecoder().decode(bytes).split(/\r?\n/).filter(Boolean))];
            bench.fill(words);
            bench.say(`${file.name}: ${plural(words.length, 'word')} are in the filter.`);
        });
    }

    const startsWith = (bytes, text) => [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));
    const chooser = h('input', { type: 'file', id: uniqueId('file'), onchange: () => {
        if (chooser.files[0])
            open(chooser.files[0]);
        chooser.value = '';
    } });

    // ---- Layout ----------------------------------------------------------

    kind.addEventListener('change', apply);
    keys.addEventListener('change', apply);
    excluded.addEventListener('change', apply);
    grows.addEventListener('change', apply);
    rate.addEventListener('input', () => {
        showRate();
        apply();
    });

    const view = h('div', { class: 'play' },
        h('div', { class: 'intro' },
            h('h1', { tabindex: '-1' }, 'A filter, live'),
            h('p', { class: 'lead' }, 'Add words and watch the cells. Ask for any word, and see why the ' +
                'filter says yes or no.')),
        h('section', { class: 'settings', 'aria-label': 'The filter' },
            field('Kind', kind), summary,
            h('div', { class: 'pair' },
                field('Planned keys, n', keys),
                slid('False positive rate', rate, rateText)),
            growsField, excludedField),
        bench.element,
        h('section', { class: 'aside', 'aria-label': 'Facts and files' },
            facts,
            h('div', { class: 'buttons' },
                button('Find a false positive', () => bench.attempt(() => bench.findFalsePositive())),
                peel, rotate,
                button('Save image', () => bench.attempt(save)),
                button('Start again', () => bench.attempt(() => {
                    bench.words.clear();
                    bench.make();
                    bench.say('The filter is empty.');
                }))),
            h('div', { class: 'drop' },
                h('label', { for: chooser.id }, 'Open a word list or a .tamis image'),
                chooser,
                h('p', { class: 'hint' }, 'Or drop the file anywhere on this page. A list has a word on each line.'))));

    view.addEventListener('dragover', event => {
        event.preventDefault();
        view.classList.add('over');
    });
    view.addEventListener('dragleave', () => view.classList.remove('over'));
    view.addEventListener('drop', event => {
        event.preventDefault();
        view.classList.remove('over');
        if (event.dataTransfer.files[0])
            open(event.dataTransfer.files[0]);
    });

    bench.words = mapOf(SAMPLE);
    bench.make();
    return view;
}
