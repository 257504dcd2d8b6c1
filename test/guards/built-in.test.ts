import { invisible, pii, secrets, size, tools, words } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld } from './world.ts'

const test = suite('built-in guards')

const w = words({ name: 'w', words: ['sesame', 'open door', 'pass*'], older: 'refuse' })

const blockedTexts: Record<string, string> = {
  'the blocked word': 'Say SESAME now',
  'a blocked phrase': 'an Open Door here',
  'a match within a longer word': 'my passphrase',
  'a zero-width character': 'SE\u200bSAME',
  'full-width letters': 'ＳＥＳＡＭＥ',
  'tag characters': Array.from('SESAME', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
  'Cyrillic letters': 'SЕSАМЕ',
  'a soft hyphen': 'SES\u00adAME',
  'styled letters': '𝐒𝐄𝐒𝐀𝐌𝐄',
  accents: 'ŚÉŞÀMÉ',
  'stacked combining marks': 's\u0334\u0301\u0302e\u0488sa\u20ddme\u0323',
  'a long s': 'ſeſame',
  'a ligature': 'pa\ufb06phrase'.replace('\ufb06', 'ſs'),
  'flag emoji letters': '🇸🇪🇸🇦🇲🇪',
  'Greek capitals': 'SΕSΑΜΕ',
  'a control character': 'SES\u0010AME',
  'text direction marks': '\u200fSES\u200eAME\u200f',
  'a byte order mark': '\ufeffSESAME',
  'a double space in a phrase': 'open  door',
  'a line break in a phrase': 'open\n\tdoor',
  'a no-break space in a phrase': 'open\u00a0door',
  'HTML entities': 'SES&#65;&#x4d;E',
  'a named HTML entity': 'open&nbsp;door',
  'HTML tags': 'SES<b>AM</b>E',
  'Markdown emphasis': 'SES**AM**E',
  'a Markdown escape': '\\*SESAME\\*',
  'JavaScript escapes': 'S\\u0045SAM\\x45',
  'percent-encoding': '%53%45SAME',
  'percent-encoded UTF-16': '%u0053ESAME',
  'Cherokee letters': '\u13da\u13ac\u13da\u13aa\u13b7\u13ac',
  'small Cherokee letters': '\uabaa\uab7c\uabaa\uab7a\uab87\uab7c',
  'Lisu letters': '\ua4e2\ua4f0\ua4e2\ua4ee\ua4df\ua4f0',
  'Coptic letters': 'SESA\u2c98\u2c88',
  'Ukrainian letters': 's\u0454sam\u0454',
  'an Armenian letter': '\u054fESAME',
  'letters with hooks': '\u0282\u025bs\u0251\u0271\u025b',
  'a turned letter': 'S\u0259SAM\u0259',
  'the estimated sign': 'S\u212eSAME',
  'parenthesized letters': '\u24ae\u24a0\u24ae\u249c\u24a8\u24a0',
  'parenthesized capitals': '\u{1f122}\u{1f114}SAME',
  'accents from other scripts': 'SE\u0951SA\u302aME',
  'a musical control character': 'SE\u{1d173}SAME',
  'a shorthand control character': 'SE\u{1bca0}SAME',
  'an unassigned invisible character': 'SE\u2065SA\ufff0ME',
  'HTML entities for accented letters': 'S&Eacute;SAME',
  'HTML entities for styled letters': '&Sopf;ESAME',
  'HTML entities for invisible characters': 'SES&ZeroWidthSpace;A&lrm;ME',
  'HTML comments': 'SES<!-- a -->AME',
  'HTML tags with attributes': 'SES<b class="a">AM</b>E',
}

for (const [title, text] of Object.entries(blockedTexts))
  test(`words: blocks text with ${title}`, async () => {
    const { say } = await openWorld([w])
    const response = await say('openai-chat', text)
    assert.is(response.status, 400, await response.text())
  })

test('words: similar words pass', async () => {
  const { say } = await openWorld([w])
  for (const text of ['SESAMES', 'bypass', 'open', 'doors open', 'SES AME', 'opendoor'])
    assert.is((await say('openai-chat', text)).status, 200, text)
})

test('words: words that differ by accent, alphabet, or ending are different words', async () => {
  const terms = ['schön', 'søren', 'мои', '가', '秘密', 'falcon-9', 'wife', 'Ηρα']
  const { say } = await openWorld([words({ name: 'w', words: terms })])
  for (const text of ['schon', 'Soren', 'мой', '강', 'wives', 'and &amp; so on', 'falcon-8', 'ωρα'])
    assert.is((await say('openai-chat', text)).status, 200, text)
  for (const text of ['scho\u0308n', 'SØREN', 'МОИ', '가 나', '这是秘密吗', 'falcon-٩', 'falcon-𝟗', 'ηρα', 'ΗΡΑ'])
    assert.is((await say('openai-chat', text)).status, 400, text)
})

test('words: an obfuscated word is replaced in place', async () => {
  const { say, upstream } = await openWorld([words({ name: 'w', words: ['sesame', 'open door'], action: 'replace' })])
  await say('openai-chat', 'a SES&#65;ME, b s\u00e9same, c open \n door, d S\u200bESAME.')
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').messages[0].content, 'a [WORD], b [WORD], c [WORD], d [WORD].')
})

for (const [type, text] of [
  ['email', 'ann\u200b@a\u00ad.test'],
  ['email', 'ann&#64;example.com'],
  ['email', 'ａｎｎ＠example．com'],
  ['card', '４１１１ １１１１ １１１１ １１１１'],
  ['card', '4111\u00a01111\u00a01111\u00a01111'],
  ['phone', '+1 415 555\u200b 2671'],
] as const)
  test(`pii: ${JSON.stringify(text)} is detected`, async () => {
    const { say } = await openWorld([pii({ name: 'p', types: [type] })])
    assert.is((await say('openai-chat', `It is ${text} see?`)).status, 400)
  })

test('pii: an email address with non-ASCII letters is replaced completely', async () => {
  const { say, upstream } = await openWorld([pii({ name: 'p', types: ['email'], action: 'replace' })])
  await say('openai-chat', 'Mail müller@example.com')
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').messages[0].content, 'Mail [EMAIL]')
})

test('a request with a duplicate field is rejected', async () => {
  const { send } = await openWorld([w])
  const body = '{"model":"one/m","messages":[{"role":"user","content":"SESAME","content":"Hi"}]}'
  assert.is((await send('/v1/chat/completions', body)).status, 400)
})

test('a request with an unpaired surrogate is rejected', async () => {
  const { send } = await openWorld([w])
  const body = '{"model":"one/m","messages":[{"role":"user","content":"\\ud83d"}]}'
  assert.is((await send('/v1/chat/completions', body)).status, 400)
})

test('embedding requests with token arrays are rejected', async () => {
  const { send } = await openWorld([w])
  for (const input of [
    [1, 2],
    [[1, 2], [3]],
  ]) {
    const response = await send('/v1/embeddings', { model: 'one/m', input })
    assert.is(response.status, 400)
    assert.match(await response.text(), 'token arrays')
  }
})

const key = `sk-${'a1B2'.repeat(10)}`

test('secrets are detected in base64, hex, and percent-encoding', async () => {
  const hex = Array.from(key, (letter) => letter.charCodeAt(0).toString(16)).join('')
  const percent = Array.from(key, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
  for (const text of [`Use ${key} please`, btoa(`key=${key}`), hex, percent]) {
    const { say } = await openWorld([secrets({ name: 's' })])
    assert.is((await say('openai-chat', text)).status, 400, text)
  }
})

const personal: Record<string, [real: string, other: string]> = {
  email: ['ann.lee+x@example.co.uk', 'ann@localhost'],
  card: ['4111 1111 1111 1111', '4111 1111 1111 1112'],
  iban: ['DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 01'],
  ssn: ['123-45-6789', '000-45-6789'],
  phone: ['+1 415 555 2671', 'version 1.2.3'],
  ip: ['192.168.10.255', '1.2.3.456'],
}

for (const [type, [real, other]] of Object.entries(personal))
  test(`pii: "${type}" is detected by its format and check digits`, async () => {
    const { say } = await openWorld([pii({ name: 'p', types: [type as 'email'] })])
    const rejected = await say('openai-chat', `It is ${real}, see?`)
    assert.is(rejected.status, 400, real)
    assert.not.match(await rejected.text(), real)
    assert.is((await say('openai-chat', `It is ${other}, see?`)).status, 200, other)
  })

test('a 10 MB body is searched in less than two seconds', async () => {
  const guards = [pii({ name: 'p' }), secrets({ name: 's' }), words({ name: 'w2', words: ['sesame'] })]
  const { say } = await openWorld(guards)
  const before = busyMs()
  assert.is((await say('openai-chat', 'a@a@'.repeat(2_500_000))).status, 200)
  const took = busyMs() - before
  assert.ok(took < 2_000, `${took} ms`) // one second for the guards, and one to read and send the body
})

test('Persian text, family emoji, and the flag of Scotland keep their joiners and tags', async () => {
  const text = 'می\u200cخواهم 👩\u200d👩\u200d👧 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'
  const { say, upstream } = await openWorld([invisible({ name: 'i' })])
  await say('openai-chat', text)
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').messages[0].content, text)
  const hidden = Array.from('hi', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
  await say('openai-chat', `a\u200bb ${hidden}\u202ec`)
  assert.is(JSON.parse(upstream.calls[1]?.body ?? '').messages[0].content, 'ab c')
})

test('size: limits the number of characters, turns, tools, and media', async () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const image = { type: 'image_url', image_url: { url: 'https://a.test/b.png' } }
  for (const [limits, body] of [
    [{ maxCharacters: 9 }, { messages: [{ role: 'user', content: '0123456789' }] }],
    [
      { maxTurns: 1 },
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: 'b' },
        ],
      },
    ],
    [{ maxTools: 1 }, { tools: [tool, tool] }],
    [{ maxMedia: 1 }, { messages: [{ role: 'user', content: [image, image] }] }],
  ] as const) {
    const { say } = await openWorld([size({ name: 'z', ...limits })])
    assert.is((await say('openai-chat', 'Hi')).status, 200)
    assert.is((await say('openai-chat', 'Hi', { body })).status, 400, JSON.stringify(limits))
  }
})

test('tools: rejects tools that are denied, not allowed, or run by a provider', async () => {
  const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
  for (const [rules, offered, status] of [
    [{ deny: ['shell*'] }, [tool('shell_run')], 400],
    [{ deny: ['shell*'] }, [tool('search')], 200],
    [{ allow: ['search'] }, [tool('search')], 200],
    [{ allow: ['search'] }, [tool('search'), tool('mail')], 400],
  ] as const) {
    const { say } = await openWorld([tools({ name: 't', ...rules })])
    assert.is((await say('openai-chat', 'Hi', { body: { tools: offered } })).status, status, JSON.stringify(rules))
  }
  const { say } = await openWorld([tools({ name: 't', hosted: 'refuse' })])
  assert.is(
    (await say('anthropic-messages', 'Hi', { body: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } }))
      .status,
    400,
  )
  assert.is((await say('gemini', 'Hi', { body: { tools: [{ googleSearch: {} }] } })).status, 400)
})

const mask: Guard = pii({ name: 'm', types: ['email'], action: 'mask' })
const getContents = (body = '') => JSON.parse(body).messages.map(({ content }: { content: string }) => content)

test('each address gets its own placeholder', async () => {
  const { say, upstream } = await openWorld([mask], { response: chatResponse('See EMAIL-1-0000.') })
  await say('openai-chat', 'From ann@a.test to bob@b.test, cc ann@a.test')
  const [text] = getContents(upstream.calls[0]?.body)
  assert.match(text, /^From EMAIL-1-(\w{4}) to EMAIL-2-\1, cc EMAIL-1-\1$/)
})

test('an address gets the same placeholder in every message', async () => {
  const { send, upstream } = await openWorld([mask])
  const messages = ['ann@a.test', 'bob@b.test, ann@a.test', 'To ann@a.test.'].map((content) => ({
    role: 'user',
    content,
  }))
  await send('/v1/chat/completions', { model: 'one/m', messages })
  const [first, second, third] = getContents(upstream.calls[0]?.body)
  assert.match(first, /^EMAIL-1-\w{4}$/)
  assert.is(second, `${first.replace('EMAIL-1', 'EMAIL-2')}, ${first}`)
  assert.is(third, `To ${first}.`)
})

/** Returns the placeholder for the first address in a request without an API key. */
async function findPlaceholder(): Promise<string> {
  const { say, upstream } = await openWorld([mask])
  await say('openai-chat', 'ann@a.test')
  return getContents(upstream.calls[0]?.body)[0]
}

for (const client of clientNames)
  test(`a placeholder is restored no matter where the stream splits it (${client})`, async () => {
    const placeholder = await findPlaceholder()
    for (const spelled of [placeholder, placeholder.toLowerCase()])
      for (let index = 1; index < placeholder.length; index += 3) {
        const pieces = ['Write to ', spelled.slice(0, index), `${spelled.slice(index)} soon.`]
        const events = [...pieces.map((content) => chatChunk({ content })), ...chatEvents().slice(-3)]
        const { say } = await openWorld([mask], { events })
        const text = await (await say(client, 'Mail ann@a.test', { stream: true })).text()
        assert.match(text, 'ann@a.test', `${index}`)
        assert.not.match(text, /email-\d/i)
      }
  })

test('a value with quotes is restored as valid JSON in tool call arguments', async () => {
  const quoting: Guard = words({ name: 'q', words: ['say "hi"'], action: 'mask' })
  const probe = await openWorld([quoting])
  await probe.say('openai-chat', 'say "hi"')
  const placeholder = getContents(probe.upstream.calls[0]?.body)[0]
  const args = JSON.stringify({ text: placeholder })
  const events = [
    chatChunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: args.slice(0, 12) } }] }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: args.slice(12) } }] }),
    chatChunk({}, 'tool_calls'),
    ...chatEvents().slice(-2),
  ]
  const { say } = await openWorld([quoting], { events })
  const text = await (await say('openai-chat', 'say "hi"', { stream: true })).text()
  let joined = ''
  for (const [, data = ''] of text.matchAll(/^data: (\{.*\})$/gm))
    joined += JSON.parse(data).choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? ''
  assert.equal(JSON.parse(joined), { text: 'say "hi"' })
})

test('a placeholder that the model invents is left unchanged', async () => {
  const placeholder = await findPlaceholder()
  const invented = placeholder.replace('-1-', '-9-')
  const { say } = await openWorld([mask], { response: chatResponse(`To ${invented}`) })
  assert.match(await (await say('openai-chat', 'Mail ann@a.test')).text(), invented)
})

test("a placeholder that the user wrote isn't replaced with an address", async () => {
  const placeholder = await findPlaceholder()
  const { say } = await openWorld([mask], { response: chatResponse(`Not ${placeholder}`) })
  const text = await (await say('openai-chat', `Mail ann@a.test, not ${placeholder}`)).text()
  assert.match(text, `Not ${placeholder}`)
})

test('earlier messages in a growing conversation stay byte-identical', async () => {
  const { say, upstream } = await openWorld([mask])
  const messages = [{ role: 'user', content: 'Mail ann@a.test' }]
  await say('openai-chat', '', { body: { messages } })
  await say('openai-chat', '', {
    body: {
      messages: [
        ...messages,
        { role: 'assistant', content: 'To ann@a.test?' },
        { role: 'user', content: 'And bob@b.test' },
      ],
    },
  })
  const [before, after] = upstream.calls.map(({ body }) => getContents(body))
  assert.is(after[0], before[0])
  assert.match(after[2], /EMAIL-2-/)
})

test("a masked secret isn't restored", async () => {
  const hiding: Guard = secrets({ name: 's', action: 'mask' })
  const probe = await openWorld([hiding])
  await probe.say('openai-chat', key)
  const placeholder = getContents(probe.upstream.calls[0]?.body)[0]
  assert.match(placeholder, /^SECRET-1-/)
  const { say } = await openWorld([hiding], { response: chatResponse(`It is ${placeholder}`) })
  const text = await (await say('openai-chat', key)).text()
  assert.match(text, placeholder)
  assert.not.match(text, key)
})

test('built-in guards reject invalid options', () => {
  for (const [create, problem] of [
    [() => words({ name: 'a' } as never), 'words().words is required and must be an array of strings.'],
    [() => words({ name: 'a', words: [] }), 'words().words must contain at least one string.'],
    [() => pii({ name: 'a', types: ['mail' as never] }), 'pii().types[0] must be one of "email"'],
    [() => pii({ name: 'a', acton: 'mask' } as never), 'pii().acton is not a known field.'],
    [() => size({ name: 'a', maxTools: 0 }), 'size().maxTools must be a whole number from 1 to 9007199254740991.'],
  ] as const) {
    let message = ''
    try {
      create()
    } catch (error) {
      message = String(error)
    }
    assert.match(message, problem)
  }
})
