/** Is it the origin of a page as browsers send it: scheme, host and, unless it is the scheme's own, port? */
export function isOrigin(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false
  if (!/^https?:/.test(text)) return true // an extension's, which URL knows no origin of
  return URL.canParse(text) && new URL(text).origin === text
}
