import { HttpResponse, http } from 'msw'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { type CloudProxyOptions, createCloudProxy } from '../../../src/features/cloud-sync/proxy/proxy.ts'
import { createGateway } from '../../../src/gateway.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import { plant, watchfulLogger } from '../../support/canaries.ts'
import { fakeClock } from '../../support/clock.ts'
import { upstream } from '../../support/upstream.ts'
import { ENROLLMENT_TOKEN, SECRET } from './proxy.ts'

export const CLOUD_URL = 'https://cloud.test'
export const HOME_SECRET = 'secret-of-the-home-of-forty-characters--'
export const PROVIDER_KEY = 'sk-key-of-the-provider-0123456789abcdef'

const HOUR = 3_600_000

/** A message between gateway and cloud, as seen on the network. */
export interface Recorded {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  status: number
  answerHeaders: Record<string, string>
  response: string
}

export interface OverMswOptions {
  home?: Partial<GatewayOptions>
  cloud?: Partial<CloudProxyOptions>
  /** A path that the proxy doesn't know, as in an earlier release. */
  unknownPath?: string
  /** The provider's response events. */
  events?: string
}

/**
 * Opens a gateway and a cloud proxy that are connected by msw. Requests to `https://cloud.test` go to the proxy and are recorded. Both call one
 * mocked provider through openai-chat. Their clocks are an hour apart. Each message takes 1 ms by the proxy's clock.
 */
export function openOverMsw(options: OverMswOptions = {}) {
  const { home: homeOptions = {}, cloud: cloudOptions = {}, events = STREAM, unknownPath } = options
  for (const canary of [ENROLLMENT_TOKEN, SECRET, HOME_SECRET, PROVIDER_KEY]) plant(canary)
  const homeClock = fakeClock()
  const cloudClock = fakeClock(homeClock.now() + HOUR)
  const homeStorage = homeOptions.storage ?? memoryStorage({ clock: homeClock })
  const cloudStorage = cloudOptions.storage ?? memoryStorage({ clock: cloudClock })
  const logger = watchfulLogger()
  const recorded: Recorded[] = []
  /** The callers of the provider, and the credentials they sent. */
  const provided: Array<{ by: 'home' | 'cloud'; authorization: string | null }> = []
  let isUnavailable = false

  const provider = (by: 'home' | 'cloud') =>
    http.post('https://api.openai.com/v1/chat/completions', ({ request }) => {
      provided.push({ by, authorization: request.headers.get('authorization') })
      return new HttpResponse(events, { headers: { 'content-type': 'text/event-stream' } })
    })

  const makeProxy = () =>
    createCloudProxy({
      clock: cloudClock,
      secret: SECRET,
      enrollmentToken: ENROLLMENT_TOKEN,
      logger,
      fetch: upstream(provider('cloud')),
      ...cloudOptions,
      storage: cloudStorage,
    })
  let proxy = makeProxy()

  const throughMsw = upstream(
    http.all(`${CLOUD_URL}/*`, async ({ request }) => {
      if (isUnavailable) return HttpResponse.error()
      if (new URL(request.url).pathname === unknownPath)
        return HttpResponse.json(
          { error: `POST ${unknownPath} does not exist here.`, code: 'NOT_FOUND' },
          { status: 404 },
        )
      await cloudClock.advance(1)
      const body = await request.clone().text()
      const response = await proxy.fetch(request)
      const reply = await response.clone().arrayBuffer() // not text(), which the canary check would search
      recorded.push({
        method: request.method,
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body,
        status: response.status,
        answerHeaders: Object.fromEntries(response.headers),
        response: new TextDecoder().decode(reply),
      })
      return response
    }),
    provider('home'),
  )

  const makeHome = () =>
    createGateway({
      clock: homeClock,
      secret: HOME_SECRET,
      fetch: throughMsw,
      cloud: { enrollmentToken: ENROLLMENT_TOKEN },
      logger,
      ...homeOptions,
      storage: homeStorage,
    })
  let home = makeHome()

  return {
    homeClock,
    cloudClock,
    homeStorage,
    cloudStorage,
    recorded,
    provided,
    get home() {
      return home
    },
    get proxy() {
      return proxy
    },
    /** Restarts both sides in new processes on their data. */
    restart() {
      home = makeHome()
      proxy = makeProxy()
    },
    /** Sets whether the proxy is unreachable. */
    setAway(away: boolean) {
      isUnavailable = away
    },
    /** Returns the gateway's tenant. */
    async tenant() {
      const [tenant] = (await proxy.tenants.list()).tenants
      return proxy.tenant(tenant?.id ?? '')
    },
    /** Sends a streamed chat request to the cloud with an API key. */
    async chat(key: string, model = 'openai/gpt-5-mini') {
      const response = await proxy.fetch(`${CLOUD_URL}/v1/chat/completions`, chatRequest(key, model))
      return { status: response.status, text: await response.text() }
    },
    async close() {
      await Promise.all([home.close({ graceMs: 0 }), proxy.close({ graceMs: 0 })])
    },
  }
}

export type OverMsw = ReturnType<typeof openOverMsw>

/** Creates a streamed chat request with an API key. */
export const chatRequest = (key: string, model: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
})

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const STREAM = `${chunk({ role: 'assistant', content: 'Hel' })}${chunk({ content: 'lo' })}${chunk({}, 'stop')}data: [DONE]\n\n`
