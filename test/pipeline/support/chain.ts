import { fakeClock } from '../../support/clock.ts'
import { assert } from '../../support/suite.ts'
import { type Body, brokenBody } from './broken.ts'
import { askRaw, rawUpstream } from './raw.ts'
import type { Recording } from './recordings.ts'
import { chatEvents, messageEvents } from './responses.ts'
import { openWorld } from './world.ts'

export const idleTimeoutMs = 1_000

/** The differences between the formats. */
export const kinds = {
  chat: {
    path: '/v1/chat/completions',
    model: 'chain',
    /** The next target's response. */
    spare: chatEvents('the spare').join(''),
    error:
      /^data: \{"error":\{"message":"[^"]+","type":"server_error","param":null,"code":"upstream_(?:cut|timeout)"\}\}\n\n$/,
    /** A provider's own error. */
    overloaded: 'data: {"error":{"message":"Overloaded","type":"server_error","code":"overloaded"}}\n\n',
  },
  anthropic: {
    path: '/v1/messages',
    model: 'talk',
    spare: messageEvents('the spare').join(''),
    error:
      /^event: error\ndata: \{"type":"error","error":\{"type":"(?:api|timeout)_error","message":"[^"]+"\},"request_id":null\}\n\n$/,
    overloaded: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  },
} as const

/** Opens a combo with a first target that behaves as the test requires, and a healthy second target. */
async function openChain(api: Recording['api']) {
  const { path, model, spare } = kinds[api]
  const spareBytes = new TextEncoder().encode(spare)
  const bodies: Body[] = []
  let breakBody = () => brokenBody([], 'end')
  const fetch = rawUpstream(() => {
    const body = bodies.length === 0 ? breakBody() : brokenBody([spareBytes], 'end')
    bodies.push(body)
    return body
  })
  const clock = fakeClock()
  const world = await openWorld({
    fetch,
    clock,
    limits: { idleTimeoutMs },
    combos: { chain: ['one/m', 'two/m'], talk: ['claude/c', 'claude/d'] },
  })

  return async (open: () => Body, location: string) => {
    breakBody = open
    bodies.length = 0
    await world.api.health.reset() // so each break has no effect on the next
    await clock.advance(1_000) // so the retry budget is full again
    let isOver = false
    const pending = askRaw(world.gateway, path, { model, stream: true }).finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(bodies.some(({ isStalled }) => isStalled) ? idleTimeoutMs : 0)
    const { reply, text } = await pending
    assert.is(reply.status, 200, location)
    assert.not(
      bodies.some(({ isOpen }) => isOpen),
      `${location}: left open`,
    )
    assert.is(clock.pending(), 0, location)
    return { text, calls: bodies.length, record: world.recorded.requests.at(-1) }
  }
}

/** One chain per format, created on first use. */
export const chains = { chat: once(() => openChain('chat')), anthropic: once(() => openChain('anthropic')) }

function once<T>(make: () => T): () => T {
  let created: T | undefined
  return () => (created ??= make())
}
