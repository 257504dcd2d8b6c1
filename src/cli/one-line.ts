/** Any text as one line that a terminal shows as it is: blanks run together, control characters gone, at most 1,000 characters. */
export function oneLine(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim()
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}

const MAX_LENGTH = 1_000

/** An unexpected error in one line: name, code and message, without a stack, and without anything that could be a credential. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return withoutSecrets(oneLine(String(error)))
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : ''
  return withoutSecrets(oneLine(`${error.name}${code}: ${error.message}`))
}

const CREDENTIAL = /\b(?:Bearer|Basic)\s+\S+|\b(?:sk|sbx|pk|key|gsk|xai)[-_][\w-]{8,}|[\w+=-]{32,}/gi
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const withoutSecrets = (text: string) => text.replace(CREDENTIAL, (found) => (UUID.test(found) ? found : '…'))
