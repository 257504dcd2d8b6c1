import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { call, contents, QUESTION, result, send, text } from '../support/write-request.ts'

const turns = suite('contents for a Gemini provider')

turns('initial instructions have a separate field, and later instructions become part of a user turn', () => {
  const system = (content: string): Turn => ({ role: 'system', sentAs: 'system', content: [text(content)] })
  const { body } = send({
    turns: [system('a'), system('b'), QUESTION, { role: 'assistant', content: [text('x')] }, system('c'), QUESTION],
  })
  assert.equal(body.systemInstruction, { parts: [{ text: 'a' }, { text: 'b' }] })
  const roles = Object(body.contents).map(({ role }: { role: string }) => role)
  assert.equal(roles, ['user', 'model', 'user'])
  assert.match(JSON.stringify(Object(body.contents)[2]), /<system>.*c.*q/)
})

turns("tool results share a turn with the user content that follows, with their calls' names", () => {
  const parts: AssistantPart[] = [call('a'), call('b', { arguments: '' })]
  assert.equal(
    contents(
      QUESTION,
      { role: 'assistant', content: parts },
      { role: 'tool', results: [result('a', [text('ok')]), result('b', [text('no')], true)] },
      QUESTION,
    ),
    [
      { role: 'user', parts: [{ text: 'q' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'a', name: 'f', args: { a: 1 } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'b', name: 'f', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f', response: { output: 'ok' } } },
          { functionResponse: { id: 'b', name: 'f', response: { error: 'no' } } },
          { text: 'q' },
        ],
      },
    ],
  )
})

turns('a tool result that is not an object is wrapped in an object', () => {
  const response = (content: string) => {
    const [, , third] = Object(
      contents(
        QUESTION,
        { role: 'assistant', content: [call('a')] },
        { role: 'tool', results: [result('a', [text(content)])] },
      ),
    )
    return third.parts[0].functionResponse.response
  }
  assert.equal(response('{"a":1}'), { a: 1 })
  assert.equal(response('[1]'), { output: [1] })
  assert.equal(response('5'), { output: '5' })
  assert.equal(response('{"output":"x"}'), { output: { output: 'x' } })
  assert.equal(response('{cut'), { output: '{cut' })
})

turns("a provider's signature stays on its part, and no other provider receives it", () => {
  const { target } = contexts(geminiTranslator)
  const own = { origin: target.origin, kind: 'thought-signature', data: 'c2ln' } as const
  const foreign = { ...own, origin: { ...own.origin, account: 'other' } }
  const message = contents(
    QUESTION,
    { role: 'assistant', content: [{ ...text('a'), state: own }, call('c', { state: own }), call('d')] },
    { role: 'tool', results: [result('c', []), result('d', [])] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', state: own },
        { ...text('b'), state: foreign },
      ],
    },
    QUESTION,
  )
  const [, first, , second] = Object(message)
  assert.equal(first.parts, [
    { text: 'a', thoughtSignature: 'c2ln' },
    { functionCall: { id: 'c', name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
    { functionCall: { id: 'd', name: 'f', args: { a: 1 } } },
  ])
  assert.equal(second.parts, [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'b' }])
})

turns('a user turn is added to a conversation that starts with the model', () => {
  const { body, warnings } = send({ turns: [{ role: 'assistant', content: [text('a')] }, QUESTION] })
  assert.equal(Object(body.contents)[0], { role: 'user', parts: [{ text: '(continue)' }] })
  assert.equal(warnings, ['added:contents'])
  assert.equal(send({ turns: [] }).body.contents, [{ role: 'user', parts: [{ text: '(continue)' }] }])
})

turns("a participant's name is dropped", () => {
  assert.equal(send({ turns: [{ ...QUESTION, name: 'bob' }] }).warnings, ['dropped:messages.name'])
})

turns('writes a refusal as text', () => {
  assert.equal(
    Object(contents(QUESTION, { role: 'assistant', content: [{ type: 'refusal', text: 'no' }] }, QUESTION))[1],
    {
      role: 'model',
      parts: [{ text: 'no' }],
    },
  )
})
