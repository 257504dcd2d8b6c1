import { pii, secrets, words } from '../../src/features/guards/guards.ts'
import { chatChunk, chatEvents } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld } from './world.ts'

const test = suite('obfuscated words')

const guard = words({ name: 'w', words: ['sesame', 'open door'] })
const ending = chatEvents().slice(-3)

const hidden: Record<string, string> = {
  'a Thaana vowel sign': 'se\u07a6same',
  "an N'Ko tone mark": 'se\u07ebsame',
  'a Devanagari vowel sign': 'se\u093fsame',
  'a Thai vowel sign': 'se\u0e34same',
  'a Hebrew accent': 'se\u0591same',
  'an Arabic sign': 'se\u06d6same',
  'a Japanese voicing mark': 'se\u3099same',
  "a rare script's combining mark": 'se\u{1e8d0}same',
  'a noncharacter': 'se\uffffsame',
  'a private-use character': 'se\ue000same',
  'an unassigned character': 'se\u0378same',
  'an object replacement character': 'se\ufffcsame',
  'letters with a middle tilde': 'ᵴeᵴaᵯe',
  'letters with a palatal hook': 'ᶊᶒᶊᶏᶆᶒ',
  'Canadian syllabics': 'ᔕEᔕᗩᗰE',
  'Old Italic letters': '𐌔𐌄𐌔𐌀𐌌𐌄',
  'Yi syllables': 'ꌗꍟꌗꍏꂵꍟ',
  'currency signs': '₴Ɇ₴₳₥Ɇ',
  'a section sign': '§E§ÄMË',
  'a final sigma': 'ςεςαμε',
  'Cyrillic letters with tails': 'sesaӎe',
  'a Warang Citi letter': '𑣁esame',
  'an empty link': 'ses[](x)ame',
  'an empty link with a title': 'ses[](https://a.test/b_(c)?d=e "t")ame',
  'a link': '[ses](x)ame',
  'a link in the middle of the word': 'ses[am](x)e',
  'an image': 'ses![](x)ame',
  'a reference link': '[ses][1]ame',
  brackets: 'ses[a]me',
  'a footnote': 'ses[^1]ame',
  'a CDATA section': '<![CDATA[se]]>same',
  'an HTML comment with a tag': 'se<!-- a > <b> -->same',
  'an empty HTML comment': 'se<!-->same',
  'a long HTML comment': `se<!-- ${'x '.repeat(2_000)} -->same`,
  'a doctype': 'se<!DOCTYPE x>same',
  'a processing instruction': 'se<?xml x?>same',
  'an HTML heading': 'se<h1></h1>same',
  'a custom element': 'se<x-foo-bar></x-foo-bar>same',
  'a namespaced element': 'se<svg:g>same',
  'an HTML attribute with a bracket': 'se<b title=">">same',
  'an HTML attribute with a tag': 'se<b title="<i>">same',
  'a long HTML attribute': `se<b title="${'x'.repeat(300)}">same`,
  'an empty HTML tag': 'se<>same</>',
  'many HTML tags': `se${'<b></b>'.repeat(20)}same`,
  'HTML tags after a paragraph break': 'x</p><p>ses<b>am</b>e',
  'emphasis in an HTML attribute': '<b title="ses**am**e">',
  'tags in an HTML comment': '<!-- ses<b>am</b>e -->',
  'emphasis in a link destination': '[](ses**am**e)',
  'a phrase with a tag in place of the space': 'open<br>door',
  'doubly encoded entities': '&amp;#115;esame',
  'entities encoded seven times': `&${'amp;'.repeat(6)}#115;esame`,
  'entity-encoded entities': '&#38;&#35;115;esame',
  'percent-encoded entities': '%26%23115%3Besame',
  'doubly percent-encoded letters': '%2573esame',
  'percent-encoded invisible characters': 'se%E2%80%8Bsame',
  'an escaped entity': '\\u0026#115;esame',
  'escaped backslashes': '\\\\\\\\u0073esame',
  'Python escapes': '\\U00000073es\\N{LATIN SMALL LETTER A}me',
  'octal escapes': '\\163esame',
  'CSS escapes': '\\73 es\\000061me',
  'braced escapes': '\\x{73}esame',
  'an escaped line break': 'x\\nsesame',
  'an escaped tab': 'x\\tsesame',
  'an entity for an invisible character': 'se&#8203;same',
  'named HTML entities for mathematical letters': 's&ee;s&aopf;m&ExponentialE;',
  'a named HTML entity for a circled letter': '&oS;esame',
  'named HTML entities for Greek letters': 'SES&Alpha;&Mu;&Epsilon;',
  'a named HTML entity for a Cyrillic letter': 's&iecy;same',
  'a named HTML entity without a semicolon': 's&eacutesame',
  'a named HTML entity for a soft hyphen, without a semicolon': 'ses&shyame',
  'a named HTML entity for an invisible operator': 'ses&af;ame',
  'a tilde': 's~e~same',
  'a caret': 's^e^same',
  highlights: 's==e==same',
  spoilers: 's||e||same',
  insertions: 's++e++same',
  'several backticks': 's````e````same',
  'empty emphasis': 'ses****ame',
  'emphasis around an invisible character': 'ses**\u200b**ame',
  'wiki emphasis': "ses'''am'''e",
  'dollar signs': 'ses$a$me',
  braces: 'ses{}ame',
  'TeX commands': '\\textbf{ses}\\mathrm{am}e',
  'terminal color codes': 'ses\u001b[31mame\u001b[0m',
  'end-of-line hyphenation': 'ses-\r\name',
  'a right-to-left override': '\u202eemases\u202c',
  'a right-to-left override in the middle of the word': 'se\u202eemas\u202c',
  'an entity for a right-to-left override': '&#8238;emases',
}

for (const [title, text] of Object.entries(hidden))
  test(`a word hidden by ${title} is blocked`, async () => {
    const content = `One ${text} two`
    const response = await (await openWorld([guard])).say('openai-chat', content)
    assert.is(response.status, 400, await response.text())
    for (const pieces of [[...content], content.match(/[\s\S]{1,2}/gu) ?? []]) {
      const events = [...pieces.map((piece) => chatChunk({ content: piece })), ...ending]
      const { say } = await openWorld([guard], { events })
      const stream = await (await say('openai-chat', 'Hi', { stream: true })).text()
      assert.match(stream, '"finish_reason":"content_filter"')
      const received = [...stream.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, piece = '']) => JSON.parse(piece))
      assert.ok(received.join('').length < `One ${text}`.length, received.join(''))
    }
  })

test("words that differ by other scripts' vowel signs or accents are different words", async () => {
  const { say } = await openWorld([words({ name: 'w', words: ['कल', 'กาน', 'か', 'สวน*', 'קול', '100€'] })])
  for (const text of ['काल', 'कला', 'กิน', 'が', 'קִיל', '100e'])
    assert.is((await say('openai-chat', text)).status, 200, text)
  for (const text of ['कल', 'क\u07a6ल', 'กาน', 'か', 'สวนี', 'ק\u0591ו\u05b9ל', '100€'])
    assert.is((await say('openai-chat', text)).status, 400, text)
})

test('unrelated words next to markup and escapes pass', async () => {
  const { say } = await openWorld([guard])
  for (const text of ['x<b>s</b>esames', 'x&#115;esame', '**ses** ame', 'ses</p> <p>ame', '\\xsesame', '[x](sesam)e'])
    assert.is((await say('openai-chat', text)).status, 200, text)
})

test('a word hidden by markup is replaced together with the markup', async () => {
  const { say, upstream } = await openWorld([words({ name: 'w', words: ['sesame'], action: 'replace' })])
  await say(
    'openai-chat',
    'a [ses](x)ame, b se<!-- x -->same, c \u202eemases\u202c, d &amp;#115;esame, e se\u07a6same.',
  )
  const content: string = JSON.parse(upstream.calls[0]?.body ?? '').messages[0].content
  assert.is(content, 'a [[WORD], b [WORD], c [WORD]\u202c, d [WORD], e [WORD].')
})

for (const [title, texts] of Object.entries({
  'a tag': ['ses<b', '>ame'],
  emphasis: ['ses**', '**ame'],
  'an entity': ['ses&#9', '7;me'],
  'an empty block': ['ses[](', '', 'x)ame'],
}))
  test(`a word split across content blocks in the middle of ${title} is blocked`, async () => {
    const { send } = await openWorld([guard])
    const content = texts.map((text) => ({ type: 'text', text }))
    const response = await send('/v1/chat/completions', { model: 'one/m', messages: [{ role: 'user', content }] })
    assert.is(response.status, 400, await response.text())
  })

test('text in a stream that only looks like the start of a blocked word is delivered', async () => {
  const events = ['the', 'sesame', ' x', 'sesame&#115; '].map((content) => chatChunk({ content }))
  const { say } = await openWorld([guard], { events: [...events, ...ending] })
  assert.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), '"finish_reason":"stop"')
})

const key = `sk-${'a1B2'.repeat(10)}`

for (const [title, finder, text] of [
  ['email', pii({ name: 'p', types: ['email'] }), 'ann<b>@</b>mail.example'],
  ['email', pii({ name: 'p', types: ['email'] }), 'ann&#8203;&commat;mail.example'],
  ['email', pii({ name: 'p', types: ['email'] }), 'a[n](x)n@mail\u07a6.example'],
  ['card', pii({ name: 'p', types: ['card'] }), '4111\u20101111\u20131111&#45;1111'],
  ['IP address', pii({ name: 'p', types: ['ip'] }), '192<!-- a -->.168.10.255'],
  ['secret', secrets({ name: 's' }), key.replace('B', '<i class="x">B</i>')],
  ['secret', secrets({ name: 's' }), key.replace('B', '&amp;#66;')],
] as const)
  test(`${finder.name}: ${JSON.stringify(text)} is detected (${title}), even in a stream`, async () => {
    const content = `It is ${text}, see?`
    const pieces = [...content].map((piece) => chatChunk({ content: piece }))
    const { say } = await openWorld([finder], { events: [...pieces, ...ending] })
    assert.is((await say('openai-chat', content)).status, 400)
    assert.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), '"finish_reason":"content_filter"')
  })
