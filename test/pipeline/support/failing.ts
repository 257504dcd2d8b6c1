import { fakeClock } from '../../support/clock.ts'
import { chatAnswer } from './answers.ts'
import { fault } from './fault.ts'
import { fakeUpstream, json } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/**
 * A world whose clock moves by `pass` alone. `down` names the providers that answer with a failure, and which;
 * `ask` tells the status and the attempts of one request.
 */
export async function failing(options: WorldOptions = {}) {
  let nowMs = Date.UTC(2026, 0, 1)
  const down: Record<string, () => Response> = {}
  const up = fakeUpstream(({ provider }) => down[provider]?.() ?? json(chatAnswer(provider)))
  const world = await openWorld({
    fetch: up,
    clock: { ...fakeClock(), now: () => nowMs },
    combos: { chain: ['one/m', 'two/m'] },
    ...options,
  })
  const ask = async (model = 'chain') => {
    const response = await world.chat({ model })
    await response.text()
    const attempts = response.headers.get('x-signalbox-attempts') ?? ''
    return `${response.status} ${attempts.replace(/;(?:via|connection)=[^,]*/g, '')}`
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { up, world, down, ask, pass }
}

/** An upstream that answers with an error that says no more than its status. */
export const refused = (status: number, headers = {}) => fault(status, `no ${status}`, headers)
