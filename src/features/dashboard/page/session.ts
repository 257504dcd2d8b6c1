import { computed, signal } from '@preact/signals'
import { type Client, ClientError, createClient } from '../../../client/client.ts'
import { sanitize } from './page-format.ts'
import { buildLink, decode, navigate } from './route.ts'

/** The root URL of the gateway that serves this page, including any prefix. */
const apiRoot = new URL('..', location.origin + location.pathname).href

const TOKEN_KEY = 'signalbox.token'

/** This tab's admin token. Empty if the host app authenticates visitors. */
const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '')

/** Returns whether a header can contain the token. Control characters and characters outside Latin-1 aren't allowed. */
function isSendable(value: string): boolean {
  try {
    return Boolean(new Headers({ authorization: `Bearer ${value}` }))
  } catch {
    return false
  }
}

/** Whether the visitor may call the API: unknown, yes, or only after signing in. `reason` is the API's reason. */
export type Access = { state: 'unknown' } | { state: 'open' } | { state: 'closed'; reason: string }

export const access = signal<Access>({ state: 'unknown' })

/** Whether the visitor may change anything; `false` with a read-only token. */
export const canWrite = signal(true)

/** When the gateway stopped responding, or `undefined` while it responds. */
export const disconnectedAt = signal<number | undefined>(undefined)

/** The management API client with this tab's token. */
export const api = computed<Client>(() =>
  createClient({ baseUrl: apiRoot, fetch: trackedFetch, ...(token.value !== '' && { token: token.value }) }),
)

/** The same client for input that only the gateway validates, such as JSON entered in a form. */
export const uncheckedApi = computed<Client<unknown>>(() => api.value)

/** The newer versions of records in forms, after a conflict has been reported. */
const newerVersions = new WeakMap<object, object>()

/**
 * Changes a record from a table or form. If someone else has changed the record, throws an error that lists the differences. The next attempt is then
 * based on the new version. `changes` is the form's input.
 */
export async function changeRecord(
  record: object,
  change: (options: { ifMatch: object }) => Promise<unknown>,
  changes?: object,
): Promise<void> {
  const baseRecord = newerVersions.get(record) ?? record
  try {
    await change({ ifMatch: baseRecord })
  } catch (error) {
    if (!(error instanceof ClientError && error.current)) throw error
    const { current } = error
    newerVersions.set(record, current)
    const format = (record: object, name: string) =>
      sanitize(JSON.stringify(Reflect.get(record, name) ?? undefined) ?? '–')
    const differences = Object.keys({ ...baseRecord, ...current }).flatMap((name) => {
      const [before, now, edited] = [
        format(baseRecord, name),
        format(current, name),
        format(changes && name in changes ? changes : current, name),
      ]
      if (before === now || ['hint', 'key', 'health', 'updatedAt'].includes(name)) return []
      return `${name} changed from ${before} to ${now}${edited === now ? '' : ` (yours: ${edited})`}`
    })
    const [undone, again] = changes ? ['saved', 'overwrite their changes'] : ['deleted', 'delete it anyway']
    throw new Error(
      `Someone else changed this record, so nothing was ${undone}: ${differences.join('; ')}. Try again to ${again}.`,
    )
  }
}

/** The gateway's URL without a trailing slash. */
export const gatewayUrl = apiRoot.slice(0, -1)

/** Returns the URL of a gateway path, such as `api/live`. */
export const getUrl = (path: string): string => `${apiRoot}${path}`

/** Returns the auth headers for calls outside the client. */
export const getAuthHeaders = (): Record<string, string> =>
  token.value === '' ? {} : { authorization: `Bearer ${token.value}` }

/** Signs in with the token in `#token=…`. Removes it from the URL immediately, so it doesn't end up in the browser history. */
export function takeTokenFromUrl(): void {
  const match = /^#token=([^&]+)/.exec(location.hash)
  if (!match) return
  navigate(buildLink(''), { replace: true })
  signIn(decode(match[1] ?? ''))
}

/** Stores the token, or reports that it can't be valid. */
export function signIn(value: string): void {
  if (isSendable(value)) {
    sessionStorage.setItem(TOKEN_KEY, value)
    token.value = value
    access.value = { state: 'unknown' }
  } else signOut('This token contains characters that aren’t allowed in an HTTP header. Copy it again.')
}

export function signOut(reason = ''): void {
  sessionStorage.removeItem(TOKEN_KEY)
  token.value = ''
  access.value = { state: 'closed', reason }
}

export const hasToken = computed(() => token.value !== '')

/** Checks whether the visitor may call the API. */
export async function checkAccess(): Promise<void> {
  try {
    canWrite.value = (await api.value.info()).canWrite
    access.value = { state: 'open' }
  } catch (error) {
    if (isDenied(error)) signOut(token.value === '' ? '' : getMessage(error))
    else access.value = { state: 'open' } // each view reports errors from its own calls
  }
}

/** Returns whether the error means that the visitor isn't, or is no longer, allowed to call the API. */
export const isDenied = (error: unknown): boolean => error instanceof ClientError && error.status === 401

/** Returns an error's full message. */
export function getMessage(error: unknown): string {
  if (error instanceof ClientError) return error.message
  return error instanceof Error ? error.message : String(error)
}

/** A `fetch` that tracks whether the gateway responds and whether it still accepts the token. */
export const trackedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init)
    disconnectedAt.value = undefined
    const isModelError = response.headers.has('x-signalbox-request-id') // a 401 then comes from a model request, not from the API
    if (response.status === 401 && !isModelError && access.value.state === 'open') {
      const body: unknown = await response
        .clone()
        .json()
        .catch(() => undefined)
      signOut(readMessage(body))
    }
    return response
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) disconnectedAt.value ??= Date.now()
    throw error
  }
}

const readMessage = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
    ? body.error
    : 'Your token is no longer valid.'
