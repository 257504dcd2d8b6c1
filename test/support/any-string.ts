import fc from 'fast-check'

const SURROGATES = 0x800

const character = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + SURROGATES))

/** Generates any valid text: all code points except surrogates. It equals `unit: 'binary'`, but without the latter's one second of preparation. */
export const anyText = (constraints: { maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...constraints })

/** Generates a web URL, without the one second of preparation that `fc.webUrl` takes. */
export const anyUrl: fc.Arbitrary<string> = anyText().map((path) => `https://example.test/${encodeURIComponent(path)}`)
