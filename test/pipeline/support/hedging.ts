import type { UpstreamFetch } from '../../../src/lib/exchange.ts'
import { fakeClock } from '../../support/clock.ts'
import { chatEvents, chatResponse } from './responses.ts'
import { fakeUpstream, json, never, type Respond, sse } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/** The time in ms within which the first target sends 95% of its responses. */
export const P95 = 20
export const respond = (stream: boolean) => (stream ? sse(chatEvents()) : json(chatResponse()))

/** Opens a hedging combo with a first target whose response time is already known. After that, its targets behave as specified. */
export async function openHedging(
  targets: { one?: Respond; two?: Respond },
  options: WorldOptions & { stream?: boolean; wrap?: (fetch: UpstreamFetch) => UpstreamFetch } = {},
) {
  const { stream = false, clock = fakeClock(), wrap = (fetch) => fetch, ...extra } = options
  let isWarm = false
  const upstream = fakeUpstream(async (call, index) => {
    if (isWarm) return ((call.provider === 'one' ? targets.one : targets.two) ?? never)(call, index)
    await clock.sleep(index <= 2 ? P95 : 10)
    return respond(stream)
  })
  const combos = { pair: { models: ['one/m', 'two/m'], hedge: true } }
  const world = await openWorld({ fetch: wrap(upstream), clock, combos, ...extra })
  const send = (init?: RequestInit) => world.chat({ model: 'pair', stream }, init)
  for (let request = 0; request < 25; request++) {
    const calls = upstream.calls.length
    const pending = send().then((response) => response.text())
    while (upstream.calls.length === calls) await clock.advance(0)
    await clock.advance(P95)
    await pending
  }
  isWarm = true
  upstream.calls.length = 0
  world.recorded.attempts.length = 0
  return {
    upstream,
    world,
    clock,
    send,
    /** Waits until the second attempt is in flight. */
    async untilBoth() {
      while (upstream.calls.length < 1) await clock.advance(0)
      await clock.advance(P95)
      while (upstream.calls.length < 2) await clock.advance(0)
    },
  }
}
