import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, suite } from '../support/suite.ts'
import { type Command, chat, cleanUp, findToken, manage, signalbox, temporaryFolder } from './command.ts'

const demo = suite('signalbox --demo', { data: '', baseUrl: '', token: '', command: undefined as Command | undefined })

demo.before(async (context) => {
  context.data = await temporaryFolder()
  context.command = signalbox(['--demo', '--data', context.data])
  context.baseUrl = await context.command.baseUrl()
  context.token = findToken(context.command)
})

demo.after(cleanUp)

demo('signalbox --demo streams a response after a failed target', async ({ baseUrl }) => {
  const startedAt = performance.now()
  const response = await chat(baseUrl, 'demo')
  assert.is(response.status, 200)
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    'demo/broken=503:server;via=demo:fallback, demo/storyteller=200',
  )
  assert.is(response.headers.get('x-signalbox-target'), 'demo/storyteller')
  const arrivals: number[] = []
  let text = ''
  for await (const chunk of response.body ?? []) {
    arrivals.push(performance.now() - startedAt)
    text += new TextDecoder().decode(chunk)
  }
  assert.match(text, /^data: \{.*"role":"assistant"/)
  assert.match(text, /"finish_reason":"stop"[^\n]*\n\ndata: \[DONE\]\n\n$/)
  assert.match(listWords(text), /^A train stops .* gentle curve\.$/)
  assert.ok(arrivals.length > 30, `it arrived in ${arrivals.length} chunks`)
  assert.ok((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0) > 1_000, 'word by word')
})

demo('signalbox --demo returns search results after a failed target', async ({ baseUrl }) => {
  const response = await fetch(`${baseUrl}/v1/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-search', query: 'signal boxes', max_results: 1 }),
  })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-target'), 'demo/search')
  assert.match(
    response.headers.get('x-signalbox-attempts') ?? '',
    /^demo\/broken-search=503:server;via=demo-search:fallback, /,
  )
  const { results } = (await response.json()) as { results: Array<{ title: string; url: string }> }
  assert.equal(
    results.map(({ title }) => title),
    ['Signal box'],
  )
})

demo('signalbox --demo returns embeddings, which are equal for strings with the same letters', async ({ baseUrl }) => {
  const response = await fetch(`${baseUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo/embedder', input: ['signal box', 'box signal', 'zzz'] }),
  })
  assert.is(response.status, 200)
  const { data } = (await response.json()) as { data: Array<{ embedding: number[] }> }
  const [first, same, other] = data.map(({ embedding }) => embedding)
  assert.equal(first, same)
  assert.not.equal(first, other)
})

demo('signalbox --demo returns non-streaming responses, and supports several client formats', async ({ baseUrl }) => {
  const send = async (path: string, model: string, extra: object = {}) => {
    const body = JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...extra })
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    assert.is(response.status, 200)
    assert.match(
      response.headers.get('x-signalbox-attempts') ?? '',
      `${model}/broken=503:server;via=${model}:fallback, ${model}/storyteller=200`,
    )
    return response.text()
  }
  const [completion, message, events, translated] = await Promise.all([
    send('/v1/chat/completions', 'demo'),
    send('/v1/messages', 'demo-messages'),
    send('/v1/messages', 'demo-messages', { stream: true }),
    send('/v1/messages', 'demo'),
  ])
  assert.match(JSON.parse(completion).choices[0].message.content, /gentle curve\.$/)
  assert.is(JSON.parse(completion).usage.completion_tokens, 40)
  for (const full of [message, translated]) assert.match(JSON.parse(full).content[0].text, /gentle curve\.$/)
  assert.match(
    events,
    /^event: message_start\ndata: \{[\s\S]*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
  )
})

demo(
  'signalbox --demo has keys, a nearly exhausted limit, and several days of past requests',
  async ({ baseUrl, token }) => {
    const { body } = await manage(`${baseUrl}/api/keys?values=none`, token)
    const keys = body.keys as Array<{ id: string; name: string; error?: string; metadata?: object }>
    assert.ok(keys.length >= 5)
    for (const { name, error, metadata } of keys) {
      assert.is(error, undefined)
      assert.match(name, /^demo-/)
      assert.equal(metadata, { demo: 'created by --demo' })
    }
    const trial = keys.find(({ name }) => name === 'demo-trial')
    const { limits } = (await manage(`${baseUrl}/api/keys/${trial?.id}/limits`, token)).body as {
      limits: Array<{ limit: number; used: number }>
    }
    assert.ok(limits.some(({ limit, used }) => used > 0.85 * limit))
    const from = new Date(Date.now() - 7 * 86_400_000).toISOString()
    const { rows } = (await manage(`${baseUrl}/api/usage?by=day&from=${from}`, token)).body as { rows: unknown[] }
    assert.ok(rows.length >= 5)
    const over = (await manage(`${baseUrl}/api/usage/requests?status=402`, token)).body
    assert.ok((over.requests as unknown[]).length > 0)
    const failed = (await manage(`${baseUrl}/api/usage/requests?end=failed`, token)).body
    assert.ok((failed.requests as unknown[]).length > 0)
  },
)

demo('signalbox --demo lists its models, and so does the error for an unknown model', async ({ baseUrl }) => {
  const { data } = (await (await fetch(`${baseUrl}/v1/models`)).json()) as { data: Array<{ id: string }> }
  const ids = data.map(({ id }) => id)
  for (const id of ['demo', 'demo-messages', 'demo/broken', 'demo/storyteller']) assert.ok(ids.includes(id), id)
  const unknown = await chat(baseUrl, 'demo/other')
  assert.is(unknown.status, 404)
  assert.match(await unknown.text(), /has the models \\"broken\\", \\"flaky\\", \\"storyteller\\", and \\"embedder\\"/)
})

demo(
  "signalbox --demo shows its records next to the user's without storing them",
  async ({ data, baseUrl, token, command }) => {
    const api = `${baseUrl}/api`
    await manage(`${api}/connections`, token, { body: { provider: 'openai', apiKey: 'sk-0123456789' } })
    await manage(`${api}/combos`, token, { body: { name: 'mine', models: ['demo/storyteller'] } })
    assert.is((await manage(`${api}/combos`, token, { body: { name: 'demo', models: ['openai/x'] } })).status, 400)
    assert.equal(await getNames(`${api}/combos`, token, 'combos'), [
      'demo',
      'demo-messages',
      'demo-flaky',
      'demo-search',
      'mine',
    ])
    await command?.stop()
    for (const name of await readdir(data)) {
      assert.not.match(await readFile(join(data, name), 'latin1'), /demo\.invalid|demo\/broken|demo-messages/, name)
    }

    const later = signalbox(['--data', data])
    const laterUrl = await later.baseUrl()
    assert.equal(await getNames(`${laterUrl}/api/combos`, token, 'combos'), ['mine'])
    assert.equal(await getNames(`${laterUrl}/api/connections`, token, 'connections'), ['OpenAI'])
    for (const model of ['demo', 'mine']) {
      const response = await chat(laterUrl, model)
      assert.is(response.status, 404)
      assert.match(await response.text(), /does not exist|is not available: no active connection/)
    }
    await later.stop()
  },
)

demo("signalbox --demo temporarily overrides a stored combo with the demo's name, and warns", async () => {
  const data = await temporaryFolder()
  const before = signalbox(['--data', data])
  const token = await before.baseUrl().then(() => findToken(before))
  const combo = { name: 'demo', models: ['openai/gpt'] }
  await manage(`${await before.baseUrl()}/api/combos`, token, { body: combo })
  await before.stop()

  const during = signalbox(['--demo', '--data', data])
  const response = await chat(await during.baseUrl(), 'demo')
  assert.is(response.headers.get('x-signalbox-target'), 'demo/storyteller')
  await response.body?.cancel()
  assert.match(during.stderr, /^signalbox: warning: While the demo runs, its combo "demo" replaces yours\.\n$/)
  await during.stop()

  const after = signalbox(['--data', data])
  const { body } = await manage(`${await after.baseUrl()}/api/combos`, token)
  assert.match(JSON.stringify(body), '"models":["openai/gpt"]')
  await after.stop()
})

const getNames = async (url: string, token: string, list: string) =>
  ((await manage(url, token)).body[list] as Array<{ name: string }>).map(({ name }) => name)

const listWords = (text: string) => [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join('')
