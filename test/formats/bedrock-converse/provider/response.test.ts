import { converseTranslator } from '../../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('parts of Converse responses that other formats lack')

const spot = { documentChar: { documentIndex: 0, start: 0, end: 1 } }
const cited = (location: object) => ({ title: 'T', location })

/** A complete block; its start, if it has one, and its delta in a stream; and the name of the dropped part. */
const blocks: Readonly<Record<string, [whole: object, start: object | undefined, delta: object, lost: string[]]>> = {
  'a tool that ran at the provider': [
    { toolUse: { toolUseId: 't1', name: 'f', input: {}, type: 'server_tool_use' } },
    { toolUse: { toolUseId: 't1', name: 'f', type: 'server_tool_use' } },
    { toolUse: { input: '{}' } },
    ['toolUse'],
  ],
  'a call without a name': [
    { toolUse: { toolUseId: 't1', name: '', input: {} } },
    { toolUse: { toolUseId: 't1', name: '' } },
    { toolUse: { input: '{}' } },
    ['toolUse'],
  ],
  'a block of an unknown type': [{ novelty: {} }, undefined, { novelty: {} }, ['novelty']],
  'a citation without a location': [
    { citationsContent: { content: [{ text: 'a' }], citations: [cited({})] } },
    undefined,
    { text: 'a', citation: cited({}) },
    ['citations'],
  ],
  'a citation of a document': [
    { citationsContent: { content: [{ text: 'a' }], citations: [cited(spot)] } },
    undefined,
    { text: 'a', citation: cited(spot) },
    [],
  ],
}

for (const [label, [full, start, delta, names]] of Object.entries(blocks))
  test(`${label} ${names.length > 0 ? 'causes a warning' : 'causes no warning'}`, () => {
    const expected = names.map((name) => `dropped:answer.${name}`)
    const one = contexts(converseTranslator, { format: 'bedrock-converse' })
    converseTranslator.parseResponse({ output: { message: { content: [full] } }, stopReason: 'end_turn' }, one.read)
    assert.equal(one.responseWarnings.list(), expected)
    const other = contexts(converseTranslator, { format: 'bedrock-converse' })
    const reader = converseTranslator.createReader(other.read, () => {})
    const createEvent = (event: string, content: object) =>
      reader.observe({ event, data: JSON.stringify({ contentBlockIndex: 0, ...content }) })
    if (start) createEvent('contentBlockStart', { start })
    createEvent('contentBlockDelta', { delta })
    createEvent('contentBlockStop', {})
    reader.end()
    assert.equal(other.responseWarnings.list(), expected)
  })
