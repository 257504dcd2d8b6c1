import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, messageEvents } from './support/answers.ts'
import { askRaw, chunksOf, cutAt, rawUpstream } from './support/raw.ts'
import { type Recording, recordedStreams } from './support/recordings.ts'
import { openWorld } from './support/world.ts'

const test = suite('streams that are cut')

type Ending = 'close' | 'error'

interface Kind {
  path: string
  model: string
  /** What the next target says. */
  spare: string
  error: RegExp
  /** Has the answer been given in full? */
  finished: RegExp
  /** Nothing can follow. */
  closed: RegExp
}

const kinds: Record<Recording['api'], Kind> = {
  chat: {
    path: '/v1/chat/completions',
    model: 'chain',
    spare: chatEvents('the spare').join(''),
    error: /data: \{"error":\{"message":"[^"]+","type":"server_error","param":null,"code":"upstream_cut"\}\}\n\n/,
    finished: /"finish_reason":\s*"\w+"|\[DONE\]/,
    closed: /data: \[DONE\]/,
  },
  anthropic: {
    path: '/v1/messages',
    model: 'talk',
    spare: messageEvents('the spare').join(''),
    error: /event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+"\}\}\n\n/,
    finished: /"stop_reason":\s*"\w+"/,
    closed: /"type":\s*"message_stop"/,
  },
}

/**
 * Cuts a stream at each of its bytes. Until its first word the whole answer is the next target's; behind it the client has every event
 * that was whole and then an error, and only an answer that was complete may end clean.
 */
async function cutEverywhere(recording: Recording, end: Ending, step = 1) {
  const { api, bytes, name } = recording
  const { path, model, spare, error, finished, closed } = kinds[api]
  let cut = 0
  const fetch = rawUpstream(({ url }) => {
    const isFirst = url.startsWith('http://one.') || url.includes('/first/')
    return isFirst
      ? chunksOf(cutAt(bytes.subarray(0, cut), [cut / 2]), end)
      : chunksOf([new TextEncoder().encode(spare)])
  })
  let passedMs = 0
  const clock = { ...fakeClock(), now: () => passedMs } // a second for each request, so that the retry budget lasts
  const world = await openWorld({ fetch, clock, ...targets })
  const seen = { spare: 0, error: 0, clean: 0 }
  for (cut = 0; cut < bytes.length; cut += step) {
    passedMs += 1_000
    await world.api.health.reset() // each cut speaks for itself
    const where = `${name} cut at ${cut} by ${end}`
    const { reply, text } = await askRaw(world.gateway, path, { model, stream: true })
    assert.is(reply.status, 200, where)
    if (text === spare) {
      assert.is(seen.error + seen.clean, 0, `${where}: the answer had begun`)
      seen.spare++
      continue
    }
    const [said = '', rest = ''] = text.split(error)
    assert.is(rest, '', `${where}: something behind the error`)
    assert.ok(said.startsWith(wholeEvents(bytes.subarray(0, cut))), `${where}: an event is missing`)
    assert.ok(recording.sse.startsWith(said.trimEnd()) && said.endsWith('\n\n'), `${where}: not what was sent`)
    if (said === text) assert.match(text, end === 'close' ? finished : closed, `${where}: a clean end`)
    else assert.not.match(said, end === 'close' ? finished : closed, `${where}: no clean end`)
    seen[said === text ? 'clean' : 'error']++
  }
  assert.ok(seen.spare > 0 && seen.error > 0, `${name}: ${JSON.stringify(seen)}`)
}

const targets = {
  combos: { chain: ['one/m', 'two/m'], talk: ['claude/c', 'spare/c'] },
  connections: [
    'one',
    'two',
    { provider: 'claude', providerSpecificData: { baseUrl: 'http://claude.test/first/v1' } },
    {
      provider: 'anthropic-compatible-spare',
      providerSpecificData: { baseUrl: 'http://spare.test/v1', prefix: 'spare' },
    },
  ],
}

/** Up to the end of the last event that is whole. */
function wholeEvents(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes)
  const last = text.lastIndexOf('\n\n')
  return last < 0 ? '' : text.slice(0, last + 2)
}

for (const api of ['chat', 'anthropic'] as const) {
  test(`${api}: at every byte, by a clean end and by a failure`, async () => {
    const sse = (api === 'chat' ? chatEvents('größer 😀') : messageEvents('größer 😀')).join('')
    const recording = { name: 'ours', api, sse, bytes: new TextEncoder().encode(sse), read: { ok: true } }
    await cutEverywhere(recording, 'close')
    await cutEverywhere(recording, 'error')
  })

  test(`${api}: at every byte of short recordings, by a clean end and by a failure`, async () => {
    const [first, second] = recordedStreams().filter(
      (recording) => recording.api === api && !recording.sse.includes('\r') && recording.bytes.length > 900,
    )
    if (!first || !second) throw new Error('no recordings')
    await cutEverywhere(first, 'close')
    await cutEverywhere(second, 'error')
  })

  test(`${api}: here and there in all recordings`, async () => {
    const some = recordedStreams().filter(
      ({ api: its, sse, read }) =>
        its === api && !sse.includes('\r') && read.ok && /finish_reason|stop_reason/.test(sse),
    )
    for (const [index, recording] of some.entries()) {
      if (recording.bytes.length < 1_500) continue
      await cutHereAndThere(recording, index % 2 ? 'error' : 'close')
    }
  })
}

const cutHereAndThere = (recording: Recording, end: Ending) =>
  cutEverywhere(recording, end, Math.ceil(recording.bytes.length / 17))
