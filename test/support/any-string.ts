import fc from 'fast-check'

const SURROGATES = 0x800

const character = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + SURROGATES))

/** Generates any valid text: all code points except surrogates. It's equivalent to `unit: 'binary'`, which takes a second to initialize. */
export const anyText = (constraints: { maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...constraints })

/** Generates a web URL. Unlike `fc.webUrl`, it doesn't take a second to initialize. */
export const anyUrl: fc.Arbitrary<string> = anyText().map((path) => `https://example.test/${encodeURIComponent(path)}`)
