/* gen_trial.c - keys for trials: plausible, distinct, the same on every machine.
 *
 * Addresses and links are built from 40 bits: the index, shuffled by a bijection that the seed
 * chooses. Some bits pick words from tables, the rest is a number. Each piece can be read back from
 * the text, so different indexes give different keys. Domains are those reserved for examples (RFC
 * 2606, RFC 6761).
 *
 * For speed, words are copied sixteen bytes at a time, whatever their length. */
#include <stddef.h>
#include <string.h>

#include "gen_trial.h"

/* ---- Words ------------------------------------------------------------- */

typedef struct word {
    char text[15];
    unsigned char size;
} word;

/* clang-format off */
#define W(text) { text, sizeof text - 1 }

static const word GIVEN[128] = {
    W("ada"), W("aino"), W("alan"), W("alba"), W("alexander"), W("amara"), W("amir"), W("ana"),
    W("anders"), W("andrea"), W("anna"), W("anton"), W("aria"), W("arthur"), W("astrid"), W("ayse"),
    W("beatrice"), W("ben"), W("bianca"), W("boris"), W("bruno"), W("camille"), W("carl"), W("carmen"),
    W("cecilia"), W("charlotte"), W("chen"), W("clara"), W("constantin"), W("cyril"), W("dana"), W("daniel"),
    W("david"), W("diego"), W("dora"), W("edith"), W("elena"), W("elias"), W("elif"), W("emil"),
    W("emma"), W("enzo"), W("erik"), W("esther"), W("eva"), W("farid"), W("fatima"), W("felix"),
    W("finn"), W("flora"), W("francesca"), W("frida"), W("gabriel"), W("george"), W("gita"), W("grace"),
    W("hana"), W("hannah"), W("hans"), W("hassan"), W("helen"), W("henry"), W("hugo"), W("ian"),
    W("ida"), W("ines"), W("ingrid"), W("irene"), W("isaac"), W("ivan"), W("jack"), W("jakob"),
    W("jan"), W("jana"), W("joao"), W("jonas"), W("julia"), W("jun"), W("karim"), W("karin"),
    W("kenji"), W("lara"), W("laura"), W("leo"), W("lina"), W("louis"), W("lucas"), W("lucia"),
    W("luisa"), W("magnus"), W("marco"), W("margaret"), W("maria"), W("marta"), W("mateo"), W("maximilian"),
    W("mei"), W("mia"), W("milan"), W("mina"), W("moses"), W("nadia"), W("naomi"), W("nils"),
    W("nina"), W("nora"), W("olga"), W("oliver"), W("omar"), W("oscar"), W("paul"), W("petra"),
    W("priya"), W("rafael"), W("ravi"), W("rosa"), W("ruth"), W("samuel"), W("sara"), W("sofia"),
    W("stefan"), W("tara"), W("theo"), W("tomas"), W("vera"), W("viktor"), W("yuki"), W("zoe"),
};

static const word FAMILY[128] = {
    W("abe"), W("adams"), W("ahmed"), W("alvarez"), W("andersen"), W("bailey"), W("baker"), W("bakker"),
    W("bauer"), W("becker"), W("berg"), W("bianchi"), W("blanc"), W("bondarenko"), W("brown"), W("carter"),
    W("castro"), W("chan"), W("clark"), W("cohen"), W("costa"), W("cruz"), W("dahl"), W("das"),
    W("devries"), W("diaz"), W("dubois"), W("duran"), W("edwards"), W("engel"), W("eriksson"), W("evans"),
    W("farkas"), W("fernandez"), W("ferrari"), W("fischer"), W("fontaine"), W("foster"), W("garcia"), W("gill"),
    W("gomez"), W("gonzalez"), W("gray"), W("green"), W("gruber"), W("gupta"), W("haas"), W("hall"),
    W("hansen"), W("harris"), W("hill"), W("hoffmann"), W("horvat"), W("huang"), W("hughes"), W("ibrahim"),
    W("ito"), W("ivanov"), W("jackson"), W("jensen"), W("johansson"), W("jones"), W("kaya"), W("kelly"),
    W("khan"), W("kim"), W("kovac"), W("kowalski"), W("kruger"), W("kumar"), W("lang"), W("larsen"),
    W("lee"), W("lefebvre"), W("lewis"), W("lopez"), W("lund"), W("maier"), W("marino"), W("martin"),
    W("martinez"), W("mayer"), W("mendes"), W("meyer"), W("miller"), W("moreau"), W("moretti"), W("morgan"),
    W("muller"), W("murphy"), W("nagy"), W("nguyen"), W("nielsen"), W("novak"), W("obrien"), W("okafor"),
    W("olsen"), W("ortiz"), W("papadopoulos"), W("park"), W("patel"), W("pereira"), W("petrov"), W("popescu"),
    W("ramos"), W("reid"), W("reyes"), W("ricci"), W("richter"), W("rossi"), W("roux"), W("sanchez"),
    W("santos"), W("sato"), W("schmidt"), W("schneider"), W("scott"), W("sharma"), W("silva"), W("singh"),
    W("smith"), W("suzuki"), W("tanaka"), W("thompson"), W("toth"), W("walker"), W("wang"), W("zhang"),
};

static const word HOSTS[64] = {
    W("academy"), W("amber"), W("archive"), W("atlas"), W("aurora"), W("basel"), W("beacon"), W("bergen"),
    W("boats"), W("books"), W("bridge"), W("cedar"), W("choir"), W("clinic"), W("cloud"), W("coast"),
    W("delta"), W("depot"), W("eagle"), W("eu"), W("fabric"), W("falcon"), W("farm"), W("forum"),
    W("garden"), W("genoa"), W("granite"), W("harbour"), W("home"), W("hotel"), W("id"), W("island"),
    W("kiosk"), W("lab"), W("library"), W("lisbon"), W("mail"), W("maple"), W("market"), W("mills"),
    W("museum"), W("news"), W("north"), W("observatory"), W("office"), W("orchard"), W("pharmacy"), W("pilot"),
    W("post"), W("prague"), W("radio"), W("river"), W("school"), W("shop"), W("south"), W("station"),
    W("studio"), W("theatre"), W("tower"), W("trains"), W("vienna"), W("village"), W("weather"), W("www"),
};

static const word ZONES[4] = {
    W(".example.com"), W(".example.net"), W(".example.org"), W(".example"),
};

static const word SECTIONS[32] = {
    W("/about/"), W("/article/"), W("/articles/"), W("/blog/"), W("/books/"), W("/catalogue/"),
    W("/de/"), W("/docs/"), W("/en/"), W("/events/"), W("/fr/"), W("/gallery/"), W("/guide/"),
    W("/help/"), W("/images/"), W("/item/"), W("/maps/"), W("/music/"), W("/news/"), W("/notes/"),
    W("/p/"), W("/people/"), W("/photos/"), W("/products/"), W("/projects/"), W("/recipes/"),
    W("/reviews/"), W("/shop/"), W("/sport/"), W("/stories/"), W("/travel/"), W("/wiki/"),
};

static const word WORDS[128] = {
    W("acorn"), W("air"), W("almond"), W("anchor"), W("apple"), W("apricot"), W("arrow"), W("autumn"),
    W("badge"), W("barley"), W("basket"), W("bear"), W("bell"), W("birch"), W("bird"), W("blue"),
    W("bottle"), W("brass"), W("bread"), W("bronze"), W("brush"), W("butter"), W("button"), W("candle"),
    W("canvas"), W("carpet"), W("castle"), W("chair"), W("chalk"), W("cheese"), W("cherry"), W("chestnut"),
    W("clay"), W("clock"), W("clover"), W("coal"), W("coffee"), W("compass"), W("copper"), W("coral"),
    W("cotton"), W("cup"), W("curtain"), W("daisy"), W("dawn"), W("desk"), W("door"), W("dune"),
    W("dusk"), W("early"), W("east"), W("elm"), W("ember"), W("evening"), W("feather"), W("fern"),
    W("field"), W("fig"), W("flint"), W("flower"), W("fog"), W("fork"), W("fox"), W("frost"),
    W("glass"), W("gold"), W("grape"), W("grass"), W("green"), W("hammer"), W("hazel"), W("heron"),
    W("honey"), W("horse"), W("ice"), W("ink"), W("iron"), W("ivory"), W("ivy"), W("jade"),
    W("juniper"), W("kettle"), W("lamp"), W("lantern"), W("lark"), W("late"), W("lavender"), W("leaf"),
    W("lemon"), W("lime"), W("linen"), W("little"), W("marble"), W("meadow"), W("mint"), W("mirror"),
    W("moon"), W("moss"), W("needle"), W("nutmeg"), W("oak"), W("oat"), W("olive"), W("orange"),
    W("otter"), W("paper"), W("pear"), W("pearl"), W("pepper"), W("pine"), W("plum"), W("poppy"),
    W("quiet"), W("rain"), W("raven"), W("red"), W("rose"), W("saffron"), W("salt"), W("sand"),
    W("silver"), W("slate"), W("snow"), W("stone"), W("summer"), W("thistle"), W("walnut"), W("winter"),
};
/* clang-format on */

/* ---- Indexes to random bits -------------------------------------------- */

enum { WORD_BITS = 40 };

static const uint64_t WORD_MASK = (UINT64_C(1) << WORD_BITS) - 1;

uint64_t trial_indexes(trial_form form)
{
    return form == TRIAL_NUMBERS ? UINT64_MAX : UINT64_C(1) << WORD_BITS;
}

/* Steele, Lea, Flood 2014: a bijection of the 64-bit numbers. */
static inline uint64_t shuffle64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* The same on WORD_BITS bits: sums, products with odd numbers and shifted sums can be undone. */
static inline uint64_t shuffle_words(uint64_t x, uint64_t salt)
{
    x = (x + salt) & WORD_MASK;
    x = (x ^ x >> 20) * UINT64_C(0xBF58476D1CE4E5B9) & WORD_MASK;
    x = (x ^ x >> 17) * UINT64_C(0x94D049BB133111EB) & WORD_MASK;
    x = (x ^ (salt >> 20 & WORD_MASK) ^ x >> 20) * UINT64_C(0xD6E8FEB86659FD93) & WORD_MASK;
    return x ^ x >> 20;
}

static inline unsigned take(uint64_t *x, unsigned bits)
{
    unsigned low = (unsigned)*x & ((1u << bits) - 1);

    *x >>= bits;
    return low;
}

/* ---- Text -------------------------------------------------------------- */

static inline char *put_word(char *at, const word *w)
{
    memcpy(at, w, sizeof *w);
    return at + w->size;
}

static inline char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

static const char PAIRS[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

enum { DIGITS = 20 };

/* Digits are made from the last to the first and copied as a block. Writes nothing for 0. */
static inline char *put_number(char *at, uint64_t x)
{
    char digits[2 * DIGITS] = { 0 }, *first = digits + DIGITS;

    while (x >= 10) {
        first -= 2;
        memcpy(first, PAIRS + 2 * (x % 100), 2);
        x /= 100;
    }
    if (x > 0)
        *--first = (char)('0' + x);
    memcpy(at, first, DIGITS);
    return at + (digits + DIGITS - first);
}

/* ---- Forms ------------------------------------------------------------- */

/* maria.lopez48392@harbour.example.org; a number of 0 is left out. */
static inline char *put_email(char *at, uint64_t x)
{
    at = put_word(at, &GIVEN[take(&x, 7)]);
    at = put_char(at, '.');
    at = put_word(at, &FAMILY[take(&x, 7)]);
    const word *host = &HOSTS[take(&x, 6)], *zone = &ZONES[take(&x, 2)];
    at = put_number(at, x);
    at = put_char(at, '@');
    return put_word(put_word(at, host), zone);
}

/* https://harbour.example.org/recipes/apple-honey-4839 */
static inline char *put_url(char *at, uint64_t x)
{
    static const word SCHEME = W("https://");

    at = put_word(at, &SCHEME);
    at = put_word(at, &HOSTS[take(&x, 6)]);
    at = put_word(at, &ZONES[take(&x, 2)]);
    at = put_word(at, &SECTIONS[take(&x, 5)]);
    at = put_word(at, &WORDS[take(&x, 7)]);
    at = put_char(at, '-');
    at = put_word(at, &WORDS[take(&x, 7)]);
    at = put_char(at, '-');
    return put_number(at, x + 1);
}

static inline char *put_key(char *at, const trial *t, uint64_t i, uint64_t salt)
{
    switch (t->form) {
    case TRIAL_EMAILS:
        return put_email(at, shuffle_words(i, salt));
    case TRIAL_URLS:
        return put_url(at, shuffle_words(i, salt));
    case TRIAL_NUMBERS:
        break;
    }
    uint64_t x = shuffle64(i + salt);
    return x > 0 ? put_number(at, x) : put_char(at, '0');
}

char *trial_write(const trial *t, char *at, const char *limit, uint64_t *i, uint64_t end)
{
    const uint64_t salt = shuffle64(t->seed + UINT64_C(0x9E3779B97F4A7C15));

    for (; *i < end && limit - at >= TRIAL_ROOM; ++*i) {
        at = put_key(at, t, *i, salt);
        at = put_char(at, t->end);
    }
    return at;
}
