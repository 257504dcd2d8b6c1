/** The media type of the first bytes, in base64; providers check that it is the declared one. */
export const sniff = (base64: string): string | undefined => signatures.find(([start]) => start.test(base64))?.[1]

/** Are these types known by their first bytes? */
export const isSniffed = (mediaType: string): boolean => signatures.some(([, type]) => type === mediaType)

const signatures = [
  [/^\/9j\//, 'image/jpeg'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi/, 'application/pdf'],
] as const
