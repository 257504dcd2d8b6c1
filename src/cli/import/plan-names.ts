/* Creates names for imports: connection IDs and environment variable names. */

/** Converts text to an ID of letters, digits, `.`, `_`, and `-`. */
export function toSlug(text: string): string {
  const found = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
  return found.startsWith('env-') ? `from-${found}` : found || 'connection'
}

/** Converts text to an environment variable name. */
export function toVariableName(text: string): string {
  const found = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[A-Z]/.test(found) ? found : `KEY_${found}`
}

/** Returns the variable that usually contains a provider's API key. */
export const toKeyVariable = (provider: string): string => `${toVariableName(provider)}_API_KEY`
