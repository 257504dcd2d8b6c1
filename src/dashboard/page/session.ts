import { computed, signal } from '@preact/signals'
import { type Client, ClientError, createClient } from '../../client/client.ts'
import { shown } from './format.ts'
import { go, linkTo } from './route.ts'
import * as texts from './texts/frame.ts'

/** The management API of the gateway that serves this page, whatever prefix it has. */
const apiRoot = new URL('..', location.origin + location.pathname).href

const TOKEN = 'signalbox.token'

/** The admin token of this tab; empty where there is none, which is enough where the host knows its visitors. */
const token = signal(sessionStorage.getItem(TOKEN) ?? '')

/** Whether the visitor may call the API: not known yet, yes, or only after a sign-in, for the reason that the API gave. */
export type Access = { state: 'unknown' } | { state: 'open' } | { state: 'closed'; why: string }

export const access = signal<Access>({ state: 'unknown' })

/** Is there something that this visitor may change? With a token that may only look there is not. */
export const mayWrite = signal(true)

/** Is the gateway answering? With the time since which it is not. */
export const lostAt = signal<number | undefined>(undefined)

/** The client of the management API, with the token of this tab. */
export const api = computed<Client>(() =>
  createClient({ baseUrl: apiRoot, fetch: watchedFetch, ...(token.value !== '' && { token: token.value }) }),
)

/** The same client, for inputs that only the gateway checks, such as JSON that was typed into a form. */
export const uncheckedApi = computed<Client<unknown>>(() => api.value)

/** What the records of forms have become meanwhile, once that was said. */
const changed = new WeakMap<object, object>()

/**
 * Changes a record that was shown, or that a form was filled from. When somebody else has changed it meanwhile nothing is changed, and the error
 * says what is different; the next try is based on that. `entered`: what the form would make of it.
 */
export async function changing(
  record: object,
  change: (options: { ifMatch: object }) => Promise<unknown>,
  entered: object = {},
): Promise<void> {
  const base = changed.get(record) ?? record
  try {
    await change({ ifMatch: base })
  } catch (error) {
    if (!(error instanceof ClientError && error.current)) throw error
    const { current } = error
    changed.set(record, current)
    const said = (of: object, name: string) => shown(JSON.stringify(Reflect.get(of, name) ?? undefined) ?? '–')
    const parts = Object.keys({ ...base, ...current }).flatMap((name) => {
      const [before, now, own] = [
        said(base, name),
        said(current, name),
        said(name in entered ? entered : current, name),
      ]
      if (before === now || ['hint', 'key', 'health', 'updatedAt'].includes(name)) return []
      return texts.changedPart(name, before, now) + (own === now ? '' : texts.changedOwn(own))
    })
    throw new Error(texts.changed(parts.join('; ')))
  }
}

/** The address of the gateway, without a trailing slash. */
export const gatewayUrl = apiRoot.slice(0, -1)

/** The address of a path of the gateway, such as `api/live`. */
export const addressOf = (path: string): string => `${apiRoot}${path}`

/** The headers with which the page proves itself in calls that the client does not make. */
export const credentials = (): Record<string, string> =>
  token.value === '' ? {} : { authorization: `Bearer ${token.value}` }

/** Takes the token of `#token=…` out of the address at once, so that it is in no history. */
export function takeTokenFromAddress(): void {
  const found = /^#token=([^&]+)/.exec(location.hash)
  if (!found) return
  go(linkTo(''), { replace: true })
  signIn(decodeURIComponent(found[1] ?? ''))
}

export function signIn(value: string): void {
  sessionStorage.setItem(TOKEN, value)
  token.value = value
  access.value = { state: 'unknown' }
}

export function signOut(why = ''): void {
  sessionStorage.removeItem(TOKEN)
  token.value = ''
  access.value = { state: 'closed', why }
}

export const hasToken = computed(() => token.value !== '')

/** Asks whether this visitor may call the API. */
export async function checkAccess(): Promise<void> {
  try {
    mayWrite.value = (await api.value.info()).mayWrite
    access.value = { state: 'open' }
  } catch (error) {
    if (isDenied(error)) signOut(token.value === '' ? '' : messageOf(error))
    else access.value = { state: 'open' } // each view says what it cannot read
  }
}

/** Does the error mean that this visitor may not call the API (any more)? */
export const isDenied = (error: unknown): boolean => error instanceof ClientError && error.status === 401

/** What an error says, whole. */
export function messageOf(error: unknown): string {
  if (error instanceof ClientError) return error.message
  return error instanceof Error ? error.message : String(error)
}

/** Notes whether the gateway answers, and whether it still lets this visitor in. */
export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init)
    lostAt.value = undefined
    const isOfModel = response.headers.has('x-signalbox-request-id') // the model request in it was refused, and not this visitor
    if (response.status === 401 && !isOfModel && access.value.state === 'open') {
      const body: unknown = await response
        .clone()
        .json()
        .catch(() => undefined)
      signOut(saidBy(body))
    }
    return response
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) lostAt.value ??= Date.now()
    throw error
  }
}

const saidBy = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
    ? body.error
    : texts.signInEnded
