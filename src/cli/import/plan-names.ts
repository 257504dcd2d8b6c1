/* The names that an import creates: ids of connections, and environment variables. */

/** Converts a text to an id of letters, digits, `.`, `_`, and `-`. */
export function slug(text: string): string {
  const found = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
  return found.startsWith('env-') ? `from-${found}` : found || 'connection'
}

/** Converts a text to the name of an environment variable. */
export function variableName(text: string): string {
  const found = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[A-Z]/.test(found) ? found : `KEY_${found}`
}

/** The variable that usually contains the API key of a provider. */
export const keyVariable = (provider: string): string => `${variableName(provider)}_API_KEY`
