/* app.js - loads the library, and shows the page that the address names. */
import { load } from './tamis.js';
import { h } from './dom.js';
import { playView } from './play.js';

const THEMES = ['auto', 'light', 'dark'];
const main = document.getElementById('main');

function themes() {
    const toggle = document.getElementById('theme');
    const remember = name => {
        try {
            localStorage.setItem('theme', name);
        } catch { /* it lasts as long as the page, then */ }
    };
    const remembered = () => {
        try {
            return localStorage.getItem('theme');
        } catch {
            return null;
        }
    };
    const set = name => {
        document.documentElement.style.colorScheme = name === 'auto' ? 'light dark' : name;
        document.documentElement.dataset.theme = name;
        toggle.textContent = `Theme: ${name}`;
    };
    set(THEMES.includes(remembered()) ? remembered() : 'auto');
    toggle.addEventListener('click', () => {
        const { theme } = document.documentElement.dataset;
        const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
        set(next);
        remember(next);
    });
}

/** Each page is made once, when it is first looked at. The tour and the curves are loaded then. */
const VIEWS = {
    play: { title: 'Play', load: async () => playView },
    tour: { title: 'Tour', load: async () => (await import('./tour.js')).tourView },
    curves: { title: 'Curves', load: async () => (await import('./curves.js')).curvesView },
};
const made = new Map();

async function show(library, isFirst) {
    const [name, ...more] = location.hash.slice(1).split('/');
    const key = name in VIEWS ? name : 'play';
    if (!made.has(key))
        made.set(key, (await VIEWS[key].load())(library));
    const view = made.get(key);
    main.replaceChildren(view.element);
    view.open?.(...more);
    document.title = `${VIEWS[key].title} - tamis playground`;
    for (const link of document.querySelectorAll('header nav a'))
        if (link.hash === `#${key}`)
            link.setAttribute('aria-current', 'page');
        else
            link.removeAttribute('aria-current');
    if (!isFirst) {
        main.querySelector('h1')?.focus();
        scrollTo(0, 0);
    }
}

themes();
try {
    const library = await load();
    document.getElementById('version').textContent =
        `version ${library.version}, compiled to WebAssembly`;
    addEventListener('hashchange', () => {
        if (location.hash !== '#main')
            show(library, false);
    });
    await show(library, true);
    document.documentElement.dataset.ready = 'yes';
} catch (error) {
    main.replaceChildren(h('p', { class: 'error', role: 'alert' },
        `The library could not be loaded: ${error.message}`));
    throw error;
}
