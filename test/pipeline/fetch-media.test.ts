import { assert, suite } from '../support/suite.ts'
import {
  ADDRESS,
  base64,
  catalog,
  connections,
  createRequest,
  document,
  geminiAnswer,
  image,
  media,
  openMedia,
  PDF,
  PNG,
  png,
  redirect,
} from './support/media.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('media URLs for targets that accept only bytes')

const WEBP = new TextEncoder().encode('RIFF\x10\0\0\0WEBPVP8 ')

test('an image reaches Gemini as bytes', async () => {
  const { world, sent, upstream } = await openMedia(png)
  const response = await world.chat(createRequest('google/g', { type: 'text', text: 'What?' }, image()), {
    headers: { 'user-agent': 'mine', cookie: 'a=b', authorization: 'Bearer key', 'x-title': 'Mine' },
  })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-warning'), null)
  assert.equal(sent().contents[0].parts[1], { inlineData: { mimeType: 'image/png', data: base64 } })
  const [call] = upstream.calls
  assert.is(call?.url.href, ADDRESS)
  assert.is(call?.init.method, 'GET')
  assert.is(call?.init.redirect, 'manual')
  assert.equal([...(call?.headers.keys() ?? [])].sort(), ['accept', 'accept-encoding'])
  assert.is(upstream.open, 0)
  assert.is(world.clock.pending(), 0)
})

test('an image reaches Bedrock and Ollama as bytes', async () => {
  const { world, sent } = await openMedia(png)
  assert.is((await world.chat(createRequest('bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0', image()))).status, 200)
  assert.equal(sent().messages[0].content[0], { image: { format: 'png', source: { bytes: base64 } } })
  const messages = [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }] }]
  assert.is((await world.messages({ model: 'ollama/o', messages })).status, 200)
  assert.is(sent().messages[0].content[0].image_url.url, `data:image/png;base64,${base64}`)
})

test('targets that accept URLs get the URLs', async () => {
  const { world, sent, fetched } = await openMedia(png)
  await world.chat(createRequest('claude/c', image()))
  assert.equal(sent().messages[0].content[0].source, { type: 'url', url: ADDRESS })
  const messages = [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }] }]
  await world.messages({ model: 'plain/m', messages })
  assert.is(sent().messages[0].content[0].image_url.url, ADDRESS)
  assert.equal(fetched, [])
})

test('a media URL that occurs several times is downloaded once', async () => {
  const { world, sent, fetched } = await openMedia(png)
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Look' }, image(), image(`${ADDRESS}#top`)] },
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: [image(), image('https://images.example.com/b.png')] },
  ]
  assert.is((await world.chat({ model: 'google/g', messages })).status, 200)
  assert.equal(fetched, [ADDRESS, 'https://images.example.com/b.png'])
  const parts = sent().contents.flatMap((turn: { parts: object[] }) => turn.parts.map((part) => Object.keys(part)[0]))
  assert.equal(parts, ['text', 'inlineData', 'inlineData', 'text', 'inlineData', 'inlineData'])
})

test('two targets in a combo share one download', async () => {
  const fetched: string[] = []
  const upstream = fakeUpstream(({ url }) => {
    if (url.href.includes('/models/g:')) return json({ error: { message: 'Down' } }, 500)
    if (url.hostname === 'google.test') return json(geminiAnswer)
    fetched.push(url.href)
    return media(PNG, 'image/png')
  })
  const combos = { both: ['google/g', 'google/h'] }
  const world = await openWorld({ fetch: upstream, catalog, connections, combos })
  const response = await world.chat(createRequest('both', image()))
  assert.is(response.headers.get('x-signalbox-target'), 'google/h')
  assert.equal(fetched, [ADDRESS])
  await world.chat(createRequest('both', image()))
  assert.equal(fetched, [ADDRESS, ADDRESS], 'each request downloads it again')
})

test("a request whose media can't be downloaded goes to a target that accepts URLs", async () => {
  const combos = { both: ['google/g', 'plain/m'] }
  const { world, sent } = await openMedia(() => new Response('no', { status: 404 }), { combos })
  const messages = [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }] }]
  const response = await world.messages({ model: 'both', messages })
  assert.is(response.headers.get('x-signalbox-target'), 'plain/m')
  assert.is(sent().messages[0].content[0].image_url.url, ADDRESS)
})

test('PDFs and text documents by URL are downloaded', async () => {
  const { world, sent } = await openMedia(({ url }) =>
    url.pathname.endsWith('.pdf') ? media(PDF, 'application/pdf') : media('Grüße', 'text/plain; charset=utf-8'),
  )
  const content = [document('https://docs.example.com/a.pdf'), document('https://docs.example.com/a.txt')]
  assert.is((await world.messages({ model: 'google/g', messages: [{ role: 'user', content }] })).status, 200)
  const [pdf, text] = sent().contents[0].parts
  assert.equal(pdf, { inlineData: { mimeType: 'application/pdf', data: btoa(PDF) } })
  assert.match(text.text ?? text.inlineData.data, /Grüße|R3LDvMOfZQ/)
})

test('an image in a tool result is downloaded', async () => {
  const { world, sent } = await openMedia(png)
  const messages = [
    { role: 'user', content: 'Draw' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'draw', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }],
        },
      ],
    },
  ]
  const tools = [{ name: 'draw', input_schema: { type: 'object' } }]
  assert.is((await world.messages({ model: 'google/g', messages, tools })).status, 200)
  assert.match(JSON.stringify(sent()), base64)
})

test('media in a token count request are downloaded', async () => {
  const { world, fetched, sent } = await openMedia(png)
  const messages = [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }] }]
  const response = await world.post('/v1/messages/count_tokens', { model: 'google/g', messages })
  assert.equal(await response.json(), { input_tokens: 77 })
  assert.equal(fetched, [ADDRESS])
  assert.match(JSON.stringify(sent()), base64)
})

test('explain downloads no media, but shows why a URL would be rejected', async () => {
  const { world, fetched } = await openMedia(png)
  const explain = async (url: string) =>
    world.api.explain({ model: 'google/g', body: createRequest('google/g', image(url)) })
  assert.is((await explain(ADDRESS)).targets[0]?.use, 'first')
  assert.match((await explain('https://127.0.0.1/')).targets[0]?.why ?? '', /public host name/)
  assert.equal(fetched, [])
})

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect with ${status} is followed`, async () => {
    const { world, fetched } = await openMedia(({ url }) =>
      url.hostname.startsWith('images') ? redirect('//cdn.example.com/b.png#x', status) : media(PNG, 'image/png'),
    )
    assert.is((await world.chat(createRequest('google/g', image()))).status, 200)
    assert.equal(fetched, [ADDRESS, 'https://cdn.example.com/b.png'])
  })
}

test('the first bytes determine the type if the declared type is wrong or missing', async () => {
  const { world, sent } = await openMedia(({ url }) =>
    url.pathname === '/1' ? media(WEBP, 'image/jpeg') : media(PNG, url.pathname === '/2' ? 'binary/octet-stream' : ''),
  )
  await world.chat(createRequest('google/g', ...[1, 2, 3].map((index) => image(`https://images.example.com/${index}`))))
  assert.equal(
    sent().contents[0].parts.map((part: { inlineData: { mimeType: string } }) => part.inlineData.mimeType),
    ['image/webp', 'image/png', 'image/png'],
  )
})
