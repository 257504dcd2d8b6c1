import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { gatewayError } from '../../../src/errors.ts'
import { createGatewayWith } from '../../../src/gateway.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import type { CallerAccount } from '../../../src/request/caller.ts'
import type { AccountFinder } from '../../../src/request/door/identify-caller.ts'
import type { CachedIdentify, Identify, Identity } from '../../../src/request/identity.ts'
import { chatEvents, chatResponse } from '../../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../../pipeline/support/upstream.ts'
import { catalog } from '../../pipeline/support/world.ts'
import { fakeClock } from '../../support/clock.ts'

/** Reads the account from the cookie `s=<id>`, as an app would read its session cookie. */
export const byCookie: Identify = ({ headers }) => {
  const account = getSession(headers.get('cookie'))
  return account === undefined ? undefined : { account }
}

export const getSession = (cookie: string | null): string | undefined => /(?:^|;\s*)s=([^;]+)/.exec(cookie ?? '')?.[1]

/** Creates an `AccountFinder` whose accounts aren't stored. It knows the plan `pro`. `change` reports a changed record. */
function openAccounts() {
  const listeners: Array<(ref: string) => void> = []
  const paused = new Set<string>()
  const accounts: AccountFinder = {
    async getAccount({ account: id, plan, ...identity }: Identity): Promise<CallerAccount> {
      if (paused.has(id)) throw gatewayError('ACCOUNT_PAUSED')
      if (plan !== undefined && plan !== 'pro') throw gatewayError('IDENTITY_INVALID', { message: 'unknown plan' })
      const { name, limits, metadata, tags } = identity
      return { id, ref: `ref-of-${id}`, name, limits, metadata, tags }
    },
    onChange: (listener) => void listeners.push(listener),
  }
  const change = (id: string) => {
    for (const listener of listeners) listener(`ref-of-${id}`)
  }
  return { accounts, paused, change }
}

interface AppOptions extends Omit<Partial<GatewayOptions>, 'identify' | 'clock'> {
  /** `undefined` omits `identify`. Default: read the cookie. */
  identify?: Identify | CachedIdentify | undefined
}

interface Sent extends Omit<RequestInit, 'body'> {
  /** The signed-in user. */
  as?: string
  body?: object | BodyInit
}

/** Opens a gateway in an app with users. Records the calls to `identify` and to the provider. */
export async function openApp(overrides: AppOptions = {}) {
  const { identify, ...options } = { identify: byCookie, ...overrides }
  const upstream = fakeUpstream(({ body }) =>
    body.includes('"stream":true') ? sse(chatEvents('Hi')) : json(chatResponse()),
  )
  const errors: unknown[] = []
  const records: Array<{ status: number; error?: string; keyId?: string }> = []
  const requests: Request[] = []
  const noting: Identify = (request, about) => {
    requests.push(request)
    const resolve = typeof identify === 'object' ? identify.resolve : identify
    return resolve?.(request, about)
  }
  const { accounts, paused, change } = openAccounts()
  const clock = fakeClock()
  const { gateway } = createGatewayWith(
    {
      storage: memoryStorage({ clock }),
      clock,
      fetch: upstream,
      catalog,
      logger: false,
      usage: false,
      hooks: { onError: (error) => void errors.push(error), onRequest: (record) => void records.push(record) },
      ...options,
      ...(identify && { identify: typeof identify === 'object' ? { ...identify, resolve: noting } : noting }),
    },
    { accounts: async () => accounts },
  )
  await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })

  function toRequest(path: string, { as: user, body, headers, ...init }: Sent = {}): Request {
    const sent = new Headers(headers)
    if (user !== undefined) sent.set('cookie', `s=${user}`)
    const isPlain = body !== undefined && Object.getPrototypeOf(body) === Object.prototype
    if (isPlain && !sent.has('content-type')) sent.set('content-type', 'application/json')
    return new Request(`http://app.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...init,
      headers: sent,
      ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as BodyInit) }),
    })
  }

  const send = (path: string, sent?: Sent) => gateway.fetch(toRequest(path, sent))
  return {
    gateway,
    as: gateway.as,
    api: gateway.api,
    clock,
    upstream,
    errors,
    records,
    requests,
    paused,
    change,
    toRequest,
    send,
    chat: (sent: Sent = {}) =>
      send('/v1/chat/completions', { ...sent, body: { model: 'one/m', messages: [], ...(sent.body as object) } }),
  }
}

/** Returns the status and code of a response in OpenAI's format, such as `401 identity_required`. */
export async function getOutcome(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code?: string } }
  return error?.code ? `${response.status} ${error.code}` : `${response.status}`
}
