import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { listMarks } from './support/breakpoints.ts'
import { clientWriters, createConversation } from './support/conversations.ts'

const test = suite('prompt caching: breakpoints without savings')

const write = clientWriters['anthropic-messages']

/** Opens a gateway whose provider writes each prompt with breakpoints to its cache, and never reads one. */
async function openWriting() {
  const clock = fakeClock()
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error() {} }
  const { upstream, world } = await openGateway(
    ({ body }) => {
      const isMarked = /"cache_control"|"prompt_cache_breakpoint"/.test(body)
      const usage = {
        input_tokens: isMarked ? 10 : 10_010,
        output_tokens: 1,
        cache_creation_input_tokens: isMarked ? 10_000 : 0,
      }
      return json({
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
        ...{ content: [{ type: 'text', text: 'ok' }], usage },
      })
    },
    { catalog: defaultCatalog, connections: ['anthropic'], clock, logger },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  let count = 0
  /** Sends a unique prompt. Returns whether it had breakpoints. */
  const send = async (session: string, { hasTools = true, model = 'claude-sonnet-4-5' } = {}) => {
    const { tools, system, ...body } = write(createConversation(createRandom(count), 1).slice(0, 1))
    const unique = { ...body, system: `${++count}. ${system}`, ...(hasTools && { tools }) }
    const request = { ...unique, model: `anthropic/${model}` }
    const response = await world.messages(request, { headers: { 'x-signalbox-session': session } })
    assert.is(response.status, 200, await response.clone().text())
    return listMarks(JSON.parse(upstream.calls.at(-1)?.body ?? '{}')).length > 0
  }
  return { send, clock, world, warnings }
}

test('1,000 different prompts without tools cause no cache writes', async () => {
  const { send, world } = await openWriting()
  for (let count = 0; count < 1_000; count++) assert.is(await send(`s${count}`, { hasTools: false }), false)
  assert.ok(world.recorded.requests.every(({ promptCache }) => promptCache?.written === 0))
  assert.is(world.recorded.requests.at(-1)?.promptCache?.stoodDown, 'single')
})

test('after eight wasted writes, breakpoints pause for an hour, and then one session tries again', async () => {
  const { send, clock, world, warnings } = await openWriting()
  const marked: boolean[] = []
  for (let count = 0; count < 12; count++) marked.push(await send(`s${count}`))
  assert.equal(marked, [...Array(8).fill(true), ...Array(4).fill(false)])
  assert.is(world.recorded.requests.at(-1)?.promptCache?.stoodDown, 'unprofitable')
  assert.is(warnings.filter((message) => message.includes('Prompt caching is paused for 1 h')).length, 1)
  const [connection] = (await world.api.connections.list()).connections
  const { promptCaching } = await world.api.health.list()
  assert.equal(
    promptCaching.map(({ savedUsd, ...pause }) => ({ ...pause, isLoss: savedUsd < 0 })),
    [
      {
        ...{ caller: '', connectionId: connection?.id, provider: 'anthropic', model: 'claude-sonnet-4-5' },
        ...{ until: new Date(clock.now() + 60 * 60_000).toISOString(), isLoss: true },
      },
    ],
  )
  await clock.advance(61 * 60_000)
  assert.equal((await world.api.health.list()).promptCaching, [])
  assert.equal([await send('probe'), await send('other'), await send('probe')], [true, false, true])
})

test('each pause from the third on is twice as long as the previous one', async () => {
  const { send, clock, warnings } = await openWriting()
  for (let stop = 0; stop < 4; stop++) {
    for (let count = 0; count < 9; count++) await send('s')
    await clock.advance(60 * 60_000 * 3)
  }
  const hours = warnings.flatMap((message) => /paused for (\d+) h/.exec(message)?.[1] ?? [])
  assert.equal(hours.slice(0, 4), ['1', '1', '2', '4'])
})

test('savings are omitted if the price is unknown', async () => {
  const { send, world } = await openWriting()
  await send('s', { model: 'claude-unknown-9' })
  const { promptCache } = world.recorded.requests.at(-1) ?? {}
  assert.equal([promptCache?.by, promptCache?.written, promptCache?.savedUsd], ['gateway', 10_000, undefined])
})

test('while caching is paused for GPT-5.6, its requests turn off automatic caching', async () => {
  const clock = fakeClock()
  const usage = {
    ...{ input_tokens: 10_010, output_tokens: 1, total_tokens: 10_011 },
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 10_000 },
  }
  const { upstream, world } = await openGateway(() => json({ ...fullResponses['openai-responses'], usage }), {
    catalog: { openai: { ...defaultCatalog.openai, format: 'openai-responses' } },
    connections: ['openai'],
    clock,
    logger: { warn() {}, error() {} },
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const send = async (session: string) => {
    const body = { ...clientWriters['openai-chat'](createConversation(createRandom(1), 1).slice(0, 1)) }
    const headers = { 'x-signalbox-session': session }
    assert.is((await world.chat({ ...body, model: 'openai/gpt-5.6' }, { headers })).status, 200)
    const text = upstream.calls.at(-1)?.body ?? '{}'
    return [text.includes('"prompt_cache_breakpoint"'), JSON.parse(text).prompt_cache_options]
  }
  for (let count = 0; count < 8; count++) assert.equal(await send(`s${count}`), [true, undefined])
  assert.equal(await send('paused'), [false, { mode: 'explicit' }])
  await clock.advance(61 * 60_000)
  assert.equal(await send('probe'), [true, undefined])
  assert.equal(await send('other'), [false, { mode: 'explicit' }])
})

test('sessions that read under 20% of their input from the cache are listed, worst first', async () => {
  const clock = fakeClock()
  let read = 0
  const { world } = await openGateway(
    () => {
      const usage = { input_tokens: 10_000 - read, output_tokens: 1, cache_read_input_tokens: read }
      return json({ ...fullResponses['anthropic-messages'], usage })
    },
    { catalog: defaultCatalog, connections: ['anthropic'], clock },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  const send = async (session: string, share: number) => {
    read = share * 10_000
    const body = { ...write(createConversation(createRandom(1), 1).slice(0, 1)), model: 'anthropic/claude-sonnet-4-5' }
    const response = await world.messages(body, { headers: { 'x-signalbox-session': session } })
    assert.is(response.status, 200)
  }
  const list = async () => (await world.api.health.list()).coldSessions
  for (const share of [0, 0]) await send('cold', share)
  assert.equal(await list(), [])
  for (const share of [0, 0.9, 0.9]) await send('warm', share)
  for (const share of [0, 0, 0.1]) await send('cool', share)
  await send('cold', 0)
  const [connection] = (await world.api.connections.list()).connections
  const of = {
    caller: '',
    connectionId: connection?.id,
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    requests: 3,
  }
  const lastUsedAt = new Date(clock.now()).toISOString()
  assert.equal(await list(), [
    { ...of, readShare: 0, lastUsedAt },
    { ...of, readShare: 0.1, lastUsedAt },
  ])
  await clock.advance(61 * 60_000)
  assert.equal(await list(), [])
})
