import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, messageEvents } from './support/answers.ts'
import { type Body, type Break, brokenBody } from './support/broken.ts'
import { askRaw, cutAt, rawUpstream } from './support/raw.ts'
import { type Recording, recordedStreams } from './support/recordings.ts'
import { mapStream } from './support/stream-map.ts'
import { openWorld } from './support/world.ts'

const test = suite('the commit point')

const silenceTimeoutMs = 1_000
const encode = (text: string) => new TextEncoder().encode(text)

const kinds = {
  chat: {
    path: '/v1/chat/completions',
    model: 'chain',
    /** What the next target says. */
    spare: chatEvents('the spare').join(''),
    error: /^data: \{"error":\{"message":"[^"]+","type":"server_error","param":null,"code":"upstream_(?:cut|timeout)"\}\}\n\n$/,
    /** A provider's own. */
    overloaded: 'data: {"error":{"message":"Overloaded","type":"server_error","code":"overloaded"}}\n\n',
  },
  anthropic: {
    path: '/v1/messages',
    model: 'talk',
    spare: messageEvents('the spare').join(''),
    error: /^event: error\ndata: \{"type":"error","error":\{"type":"(?:api|timeout)_error","message":"[^"]+"\}\}\n\n$/,
    overloaded: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  },
} as const

/** A combo whose first target is as the test says and whose second one is well. */
async function openChain(api: Recording['api']) {
  const { path, model, spare } = kinds[api]
  const bodies: Body[] = []
  let broken = () => brokenBody([], 'end')
  const fetch = rawUpstream(() => {
    const body = bodies.length === 0 ? broken() : brokenBody([encode(spare)], 'end')
    bodies.push(body)
    return body
  })
  const clock = fakeClock()
  const world = await openWorld({
    fetch,
    clock,
    limits: { silenceTimeoutMs },
    combos: { chain: ['one/m', 'two/m'], talk: ['claude/c', 'claude/d'] },
  })

  return async (open: () => Body, where: string) => {
    broken = open
    bodies.length = 0
    await world.api.health.reset() // each break speaks for itself
    await clock.advance(1_000) // and finds the retry budget full
    let isOver = false
    const asked = askRaw(world.gateway, path, { model, stream: true }).finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(clock.pending() > 0 ? silenceTimeoutMs : 0)
    const { reply, text } = await asked
    assert.is(reply.status, 200, where)
    assert.not(
      bodies.some(({ isOpen }) => isOpen),
      `${where}: left open`,
    )
    assert.is(clock.pending(), 0, where)
    return { text, calls: bodies.length, record: world.told.requests.at(-1) }
  }
}

interface Seen {
  spare: number
  error: number
  clean: number
}

/**
 * Breaks a stream behind each of its bytes. Until its first word the whole answer is the next target's; behind it the client has every
 * event that was whole and then an error, and only an answer that was complete may end clean.
 */
async function breakEverywhere(recording: Recording, how: Break, step = 1): Promise<Seen> {
  const { api, bytes, name } = recording
  const { error, spare } = kinds[api]
  const { commit, said } = mapStream(recording)
  const ask = await openChain(api)
  const seen: Seen = { spare: 0, error: 0, clean: 0 }
  for (let cut = 0; cut <= bytes.length; cut += step) {
    const where = `${name}: ${how} behind byte ${cut}`
    const places = [[], [cut / 2], [cut - 1]][cut % 3] ?? []
    const { text, calls, record } = await ask(() => brokenBody(cutAt(bytes.subarray(0, cut), places), how), where)
    if (how === 'stall') assert.is(record?.durationMs, silenceTimeoutMs, where)
    if (cut < commit) {
      assert.is(text, spare, where)
      assert.is(calls, 2, where)
      seen.spare++
      continue
    }
    const { text: whole, isFinished, isClosed } = said(cut)
    assert.is(calls, 1, `${where}: a second start`)
    assert.is(text.slice(0, whole.length), whole, where)
    const isComplete = how === 'end' ? isFinished : isClosed
    if (isComplete) assert.is(text, whole, where)
    else assert.match(text.slice(whole.length), error, `${where}: a clean end`)
    assert.is(record?.status, isComplete ? 200 : how === 'stall' ? 504 : 502, where)
    seen[isComplete ? 'clean' : 'error']++
  }
  if (step === 1) assert.is(seen.spare, commit, name)
  return seen
}

/** Puts a provider's error between two events, wherever there is such a place, and goes on in each way. */
async function failEverywhere(recording: Recording): Promise<Seen> {
  const { api, bytes, name } = recording
  const { overloaded, spare } = kinds[api]
  const { ends, commit } = mapStream(recording)
  const ask = await openChain(api)
  const seen: Seen = { spare: 0, error: 0, clean: 0 }
  for (const at of [0, ...ends]) {
    const before = bytes.subarray(0, at)
    for (const [way, how, rest] of [
      ['ends', 'end', ''],
      ['is reset', 'reset', ''],
      ['stalls', 'stall', ''],
      ['goes on', 'end', decode(bytes.subarray(at))],
    ] as const) {
      const all = decode(before) + overloaded + rest
      for (const pieces of [[encode(all)], [before, encode(overloaded), encode(rest)]]) {
        const where = `${name}: an error at ${at} in ${pieces.length}, then it ${way}`
        const { text, calls, record } = await ask(() => brokenBody(pieces.filter(({ length }) => length > 0), how), where)
        assert.is(text, at < commit ? spare : all, where)
        assert.is(calls, at < commit ? 2 : 1, where)
        seen[at < commit ? 'spare' : 'error']++
        if (at >= commit && way !== 'goes on') assert.is(record?.status, api === 'chat' ? 502 : 529, where)
      }
    }
  }
  return seen
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function total(all: Seen[]): Seen {
  const sum = { spare: 0, error: 0, clean: 0 }
  for (const { spare, error, clean } of all) {
    sum.spare += spare
    sum.error += error
    sum.clean += clean
  }
  return sum
}
for (const api of ['chat', 'anthropic'] as const) {
  for (const how of ['reset', 'end', 'stall'] as const) {
    test(`${api} x ${how}`, async () => {
      const sse = (api === 'chat' ? chatEvents('größer 😀') : messageEvents('größer 😀')).join('')
      const recording = { name: 'ours', api, sse, bytes: new TextEncoder().encode(sse), read: { ok: true } }
      const t0 = performance.now()
      console.log(api, how, recording.bytes.length, await breakEverywhere(recording, how), performance.now() - t0)
      for (const r of recordedStreams().filter((r) => r.api === api && r.bytes.length > 900).slice(0, 2)) {
        console.log(r.name, r.bytes.length, await breakEverywhere(r, how), performance.now() - t0)
      }
    })
    test(`${api} x ${how} all`, async () => {
      const t0 = performance.now()
      for (const r of recordedStreams().filter((r) => r.api === api)) {
      try {  (await breakEverywhere(r, how, Math.ceil(r.bytes.length / 17))) } catch (e) { console.log(String(e.message).slice(0,1000)) }
      }
      console.log(performance.now() - t0)
    })
  }
  test(`${api} x error`, async () => {
      const t0 = performance.now()
      let s = []
      for (const r of recordedStreams().filter((r) => r.api === api).slice(0,8)) {
      try { s.push(await failEverywhere(r)) } catch (e) { console.log(String(e.message).slice(0,1000)) }
      }
      console.log(total(s), performance.now() - t0)
  })
}
