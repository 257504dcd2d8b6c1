import { fakeClock } from '../../support/clock.ts'
import { fault } from './fault.ts'
import { chatResponse } from './responses.ts'
import { fakeUpstream, json } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/**
 * Opens a gateway with a clock that moves only with `pass`. `down` contains each failing provider's response, by name. `send` returns the status and
 * attempts of one request.
 */
export async function openFailing(options: WorldOptions = {}) {
  let nowMs = Date.UTC(2026, 0, 1)
  const down: Record<string, () => Response> = {}
  const upstream = fakeUpstream(({ provider }) => down[provider]?.() ?? json(chatResponse(provider)))
  const world = await openWorld({
    fetch: upstream,
    clock: { ...fakeClock(), now: () => nowMs },
    combos: { chain: ['one/m', 'two/m'] },
    ...options,
  })
  const send = async (model = 'chain') => {
    const response = await world.chat({ model })
    await response.text()
    const attempts = response.headers.get('x-signalbox-attempts') ?? ''
    return `${response.status} ${attempts.replace(/;(?:via|connection)=[^,]*/g, '')}`
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { upstream, world, down, send, pass }
}

/** Creates an upstream that returns an error without any details except its status. */
export const rejectWith = (status: number, headers = {}) => fault(status, `no ${status}`, headers)
