import type { Tool, ToolChoice } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { createRenamer } from '../../../../src/protocols/formats/canonical/prepare/tool-calls.ts'
import type { Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { assistant, call, prepare, text, user } from './support/prepare.ts'

const f: Tool = { type: 'function', name: 'f' }
const g: Tool = { type: 'function', name: 'g' }

const tools = suite('tools prepared for a target')

const choices: Record<
  string,
  [choice: ToolChoice, knows: Traits['toolChoices'], expected: ToolChoice | undefined, tools: string[]]
> = {
  'a list of allowed tools': [
    { type: 'allowed', mode: 'auto', names: ['g'] },
    ['allowed'],
    { type: 'allowed', mode: 'auto', names: ['g'] },
    ['f', 'g'],
  ],
  'a list of allowed tools for a target that only supports other choices': [
    { type: 'allowed', mode: 'required', names: ['g'] },
    ['required'],
    { type: 'required' },
    ['g'],
  ],
  'a named tool for a target that can only force any call': [
    { type: 'tool', name: 'g' },
    ['required'],
    { type: 'required' },
    ['g'],
  ],
  'a forced call for a target that cannot force calls': [{ type: 'required' }, [], { type: 'auto' }, ['f', 'g']],
  'no calls for a target without that choice': [{ type: 'none' }, [], undefined, []],
}

for (const [name, [toolChoice, toolChoices, expected, names]] of Object.entries(choices)) {
  tools(`prepares the tool choice: ${name}`, () => {
    const { request } = prepare({ tools: [f, g], toolChoice }, { traits: { toolChoices } })
    assert.equal(request.toolChoice, expected)
    assert.equal(
      request.tools.map((tool) => ('name' in tool ? tool.name : '')),
      names,
    )
  })
}

tools('a choice of nonexistent tools is dropped with a warning', () => {
  const prepareChoice = (toolChoice: ToolChoice) => {
    const { request, warnings } = prepare({ toolChoice })
    return [request.toolChoice, warnings]
  }
  assert.equal(prepareChoice({ type: 'required' }), [undefined, ['dropped:toolChoice']])
  assert.equal(prepareChoice({ type: 'tool', name: 'f' }), [undefined, ['dropped:toolChoice']])
  assert.equal(prepareChoice({ type: 'auto' }), [undefined, []])
  assert.equal(prepareChoice({ type: 'none' }), [undefined, []])
})

tools('web searches are dropped if the tool choice is none, because they would run anyway', () => {
  const search: Tool = { type: 'web-search' }
  const none = { toolChoice: { type: 'none' } } as const
  const traits = { webSearch: true }
  assert.equal(prepare({ ...none, tools: [f, search] }, { traits }).request.tools, [f])
  const { request } = prepare({ ...none, tools: [search] }, { traits })
  assert.equal([request.tools, request.toolChoice], [[], undefined])
})

tools('tools get no cache breakpoints if the target supports them only in the conversation', () => {
  const traits = { cacheBreakpoints: 'prompt_cache_breakpoint', maxCacheBreakpoints: 1 } as const
  const marked = user({ ...text('q'), cache: {} })
  const { request, warnings } = prepare({ tools: [{ ...f, cache: {} }], turns: [marked] }, { traits })
  assert.equal([request.tools, request.turns], [[f], [marked]])
  assert.equal(warnings, ['dropped:cache'])
})

tools('the tool choice is dropped if there are no tools', () => {
  assert.is(prepare({ toolChoice: { type: 'auto' } }).request.toolChoice, undefined)
  assert.equal(prepare({ options: { parallelToolCalls: false } }).request.options, {})
})

tools('tool names are changed consistently to names that the target accepts', () => {
  const { request, restoration } = prepare({
    tools: [{ type: 'function', name: 'a.b' }],
    toolChoice: { type: 'tool', name: 'a.b' },
    turns: [user('q'), assistant(call('1', 'a.b'))],
  })
  assert.equal(request.tools, [{ type: 'function', name: 'a_b' }])
  assert.equal(request.toolChoice, { type: 'tool', name: 'a_b' })
  assert.equal(request.turns.at(-1), assistant(call('1', 'a_b')))
  assert.equal([...restoration.toolNames], [['a_b', 'a.b']])
})

tools("free-form tools become functions with a single input if the target doesn't support them", () => {
  const { request, restoration } = prepare({
    tools: [{ type: 'free-form', name: 'sql', description: 'd' }],
    turns: [
      user('q'),
      assistant({ type: 'tool-call', id: '1', name: 'sql', arguments: 'select "1"', isFreeForm: true }),
    ],
  })
  const [tool] = request.tools
  assert.ok(tool?.type === 'function' && tool.description === 'd' && tool.schema?.required)
  assert.equal(
    request.turns.at(-1),
    assistant({ type: 'tool-call', id: '1', name: 'sql', arguments: '{"input":"select \\"1\\""}' }),
  )
  assert.ok(restoration.freeFormTools.has('sql'))
})

tools('tools that only the history mentions are declared if the target requires it', () => {
  const { request } = prepare({ turns: [user('q'), assistant(call('1', 'h'))] }, { traits: { declaresTools: true } })
  assert.equal(
    request.tools.map((tool) => ('name' in tool ? tool.name : '')),
    ['h'],
  )
})

tools('a request with only an unsupported web search is rejected', () => {
  assert.throws(() => prepare({ tools: [{ type: 'web-search' }] }), /no built-in search/)
})

const names = suite('names that a target accepts')

names('renaming keeps equal names equal and different names different', () => {
  const mistral = { characters: 'A-Za-z0-9', maxLength: 9, isExact: true }
  const ids = ['toolu_01', 'toolu_02', 'abcdefghi', 'x'.repeat(90)]
  const rename = createRenamer(ids, mistral)
  const renamed = ids.map(rename)
  assert.ok(
    renamed.every((id) => /^[A-Za-z0-9]{9}$/.test(id)),
    renamed.join(),
  )
  assert.is(new Set(renamed).size, 4)
  assert.is(renamed[2], 'abcdefghi')
  assert.equal(ids.map(createRenamer(ids, mistral)), renamed)
  const plain = createRenamer(['a.b', 'a_b', 'a:b', '1x'], { characters: 'a-z0-9_', first: 'a-z_', maxLength: 20 })
  assert.is(plain('a_b'), 'a_b')
  assert.is(plain('1x'), '_1x')
  assert.is(new Set(['a.b', 'a_b', 'a:b'].map(plain)).size, 3)
  assert.is(createRenamer([], { characters: 'a-z', maxLength: 12 })('x'.repeat(50)).length, 12)
})
