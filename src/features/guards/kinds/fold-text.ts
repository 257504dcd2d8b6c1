/** Returns the code unit that a character is read as; 0 for an invisible character. */
export function foldCode(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code >= 0x20 ? code : code < 0x09 ? 0 : 0x20
  const known = folded[code]
  if (known) return known - 1
  const found = computeFold(code)
  folded[code] = found + 1
  return found
}

/** By code unit: the folded one plus 1; 0 if it hasn't been computed. */
const folded = new Uint32Array(0x1_0000)

function computeFold(code: number): number {
  const character = String.fromCharCode(code)
  if (INVISIBLE.test(character)) return 0
  const lookalike = LOOKALIKES.get(character)
  if (lookalike) return lookalike.charCodeAt(0)
  if (SPACE.test(character)) return 0x20
  const plain = character.normalize('NFKC').toLowerCase()
  return plain.length === 1 ? (LOOKALIKES.get(plain) ?? plain).charCodeAt(0) : code
}

/**
 * Returns the folded code unit of a surrogate pair, such as a styled letter or an invisible tag that mirrors ASCII. `undefined` if the pair is read
 * as two units.
 */
export function foldPair(high: number, low: number): number | undefined {
  const code = (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x1_0000
  if (code >= 0xe_0020 && code <= 0xe_007e) return foldCode(code - 0xe_0000)
  if (code >= 0xe_0000 && code <= 0xe_0fff) return 0
  if (code >= 0x1_f150 && code <= 0x1_f189) return foldCode(0x41 + ((code - 0x1_f150) % 0x20)) // white on black
  if (code < 0x1_d400 || code > 0x1_f1ff) return undefined
  const plain = String.fromCodePoint(code).normalize('NFKC').toLowerCase()
  return plain.length === 1 ? foldCode(plain.charCodeAt(0)) : undefined
}

/** Characters without a glyph, and marks that only modify the preceding character. */
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]|[\u0334-\u0338\u034f]/u

const SPACE = /[\s\u2800]/

/** Cyrillic and Greek letters, and small capitals, that look like Latin ones. */
const LOOKALIKES = new Map(
  [
    ...[
      'аa',
      'вb',
      'еe',
      'кk',
      'мm',
      'нh',
      'оo',
      'рp',
      'сc',
      'тt',
      'уy',
      'хx',
      'іi',
      'јj',
      'ѕs',
      'ԁd',
      'ԛq',
      'ԝw',
      'һh',
      'ӏl',
      'ɡg',
    ],
    ...Array.from('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘqʀꜱᴛᴜᴠᴡxʏᴢ', (letter, at) => letter + String.fromCharCode(0x61 + at)),
    ...['αa', 'βb', 'εe', 'ζz', 'ηn', 'ιi', 'κk', 'μm', 'νv', 'οo', 'ρp', 'τt', 'υy', 'χx', 'γy'],
  ].flatMap((pair) => {
    const [letter = '', latin = ''] = pair
    return [
      [letter, latin],
      [letter.toUpperCase(), latin],
    ] as const
  }),
)
