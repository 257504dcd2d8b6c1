const MAX_LENGTH = 2_048

/** What is wrong with an address that requests are sent to, as the rest of a sentence; `undefined` when it is fine. */
export function addressProblem(text: string): string | undefined {
  const url = parse(text)
  if (!url || !/^https?:\/\//i.test(text)) return 'must be an address that starts with http:// or https://'
  if (text.length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} characters`
  if (/[\s\\\p{Cc}\p{Cs}]/u.test(text)) return 'must not hold blanks, backslashes or control characters'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials'
  if (/[?#]/.test(text)) return 'must not have a query or a fragment'
  return undefined
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
