/* tour.js - one stop after the other, each with a text, a live filter and something to try. */
import { button, h } from './dom.js';
import { Bench } from './bench.js';
import { STOPS } from './stops.js';

function liveFilter(library, stop) {
    const bench = new Bench(library);
    for (const word of stop.words ?? [])
        bench.words.set(word, { times: (bench.words.get(word)?.times ?? 0) + 1, value: 1 });
    bench.options = stop.options;
    bench.make();
    return bench;
}

function turn(at) {
    const link = (stop, text, rel) =>
        h('a', { href: `#tour/${stop.name}`, rel }, text + stop.short);
    return h('nav', { class: 'turn', 'aria-label': 'Along the tour' },
        at > 0 ? link(STOPS[at - 1], 'Back: ', 'prev') : h('span'),
        at + 1 < STOPS.length ? link(STOPS[at + 1], 'Next: ', 'next')
            : h('a', { href: '#play', rel: 'next' }, 'To every kind there is'));
}

function stopPage(library, at) {
    const stop = STOPS[at], bench = liveFilter(library, stop);
    return h('article', { class: 'stop' },
        h('div', { class: 'text' },
            h('h1', { tabindex: '-1' }, stop.title),
            stop.text.map(text => h('p', {}, text))),
        h('section', { class: 'try', 'aria-label': 'Something to try' },
            h('h2', {}, 'Try'),
            h('div', { class: 'buttons' }, stop.tries.map(([text, does]) =>
                button(text, () => bench.attempt(() => does(bench)))))),
        bench.element,
        turn(at));
}

export function tourView(library) {
    const links = STOPS.map(stop => h('a', { href: `#tour/${stop.name}` }, stop.short));
    const place = h('div');
    const pages = new Map();

    return {
        element: h('div', { class: 'tour' },
            h('nav', { class: 'stops', 'aria-label': 'Stops of the tour' },
                h('ol', {}, links.map(link => h('li', {}, link)))), place),
        open(name) {
            const at = Math.max(0, STOPS.findIndex(stop => stop.name === name));
            if (!pages.has(at))
                pages.set(at, stopPage(library, at));
            place.replaceChildren(pages.get(at));
            links.forEach((link, i) => {
                if (i === at)
                    link.setAttribute('aria-current', 'step');
                else
                    link.removeAttribute('aria-current');
            });
            links[at].scrollIntoView({ block: 'nearest', inline: 'nearest' });
        },
    };
}
