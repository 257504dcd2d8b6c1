import { mkdir, readFile, readlink, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../support/suite.ts'
import { fresh, importSuite, run, startImported, writeImported } from './imported.ts'

const test = importSuite('files that an import reads and writes')

const CONFIG = 'model_list: [{ model_name: m, litellm_params: { model: gpt-4o, api_key: sk-canary } }]\n'

test("an import only writes new files in an existing directory, and doesn't follow symlinks", async ({ folder }) => {
  const config = await writeImported(folder, '.yaml', CONFIG)
  const file = await writeImported(folder, '.yaml', 'mine')
  const target = fresh(folder, '.yaml')
  const [dangling, linked, directory] = [fresh(folder, '.yaml'), fresh(folder, '.yaml'), fresh(folder, '.yaml')]
  await symlink(target, dangling)
  await symlink(file, linked)
  await mkdir(directory)
  const cases: [out: string, says: RegExp][] = [
    [file, /already exists\. Choose another name for --out\.$/m],
    [dangling, /already exists/],
    [linked, /already exists/],
    [directory, /already exists/],
    [join(folder, 'none', 'deeper', 'a.yaml'), /^Cannot write .*: the directory .*deeper doesn't exist\.$/m],
    [join(file, 'a.yaml'), /^Cannot write .*: .* is not a directory\.$/m],
    [join(folder, `${'a'.repeat(300)}.yaml`), /^Cannot write .*: the name is too long\.$/m],
    [join(folder, 'a.txt'), /The name of the --out file must end in \.yaml or \.yml/],
    ['/proc/none.yaml', /^Cannot write /],
  ]
  for (const [out, message] of cases) {
    const { code, err, out: output } = await run('litellm', config, '--out', out)
    assert.is(code, 1, out)
    assert.match(err, message)
    assert.is(err.trim().split('\n').length, 1)
    assert.is(output, '')
  }
  assert.is(await readFile(file, 'utf8'), 'mine')
  assert.is(await readlink(dangling), target)
  assert.is(await readFile(target).catch(() => 'none'), 'none')
  assert.is((await run('litellm', config, '--out', fresh(folder, '.YAML'))).code, 0)
})

/** A YAML bomb: each level references the one below it nine times. */
const bomb = Array.from(
  { length: 9 },
  (_, index) => `l${index}: &l${index} [${Array(9).fill(index ? `*l${index - 1}` : 'x')}]`,
)

const malformed: [what: string, content: string | Uint8Array, says: RegExp][] = [
  ['an empty file', '', /is empty\.$/m],
  ['a file with only comments', '# nothing\n', /is empty\.$/m],
  ['a list', '[]', /This is not /],
  ['a number', '42', /This is not /],
  ['a plain string', 'sk-canary', /This is not /],
  [
    "a file that isn't YAML",
    'model_list: [\n  - "sk-canary',
    /is not valid YAML or JSON; see line \d+, column \d+\.$/m,
  ],
  ["bytes that aren't text", Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7) % 256), /is not /],
  [
    'JSON with 10,000 levels',
    `${'{"targets":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    /is nested (?:more than 100 levels deep|too deeply)/,
  ],
  ['YAML with 10,000 levels', `model_list: ${'['.repeat(10_000)}`, /is nested too deeply|is not valid YAML or JSON/],
  ['anchors that expand exponentially', bomb.join('\n'), /has too many YAML aliases/],
  [
    'an anchor that contains itself',
    'model_list: &a\n  - *a\n',
    /is nested more than 100 levels deep, or refers to itself/,
  ],
  ['prototype property names', '{"__proto__": {"model_list": []}, "constructor": {"targets": []}}', /This is not /],
]
for (const [label, content, message] of malformed)
  test(`an import reports ${label} with a one-line error`, async ({ folder }) => {
    const path = fresh(folder, '.yaml')
    await writeFile(path, content)
    for (const source of ['litellm', 'portkey', '9router']) {
      const { code, out, err } = await run(source, path)
      assert.is(code, 1, source)
      assert.match(err, message)
      assert.is(err.trim().split('\n').length, 1)
      assert.not.match(out + err, /canary| {4}at /)
    }
  })

test('an import rejects a file over 32 MiB', async ({ folder }) => {
  const path = await writeImported(folder, '.yaml', CONFIG)
  await truncate(path, 40 * 1024 * 1024)
  const { code, err } = await run('litellm', path)
  assert.is(code, 1)
  assert.match(err, /is larger than 32 MiB/)
})

test("reads a LiteLLM configuration with merged anchors in PowerShell's encoding (UTF-16)", async ({ folder }) => {
  const text = [
    'x-lab: &lab { api_base: "http://lab.test/v1", api_key: os.environ/LAB_KEY }',
    'model_list:',
    '  - model_name: one',
    '    litellm_params: { <<: *lab, model: openai/a }',
    '  - model_name: two',
    '    litellm_params:',
    '      <<: *lab',
    '      model: openai/b',
    '      extra_body: {',
    '        a: 1',
    '      }', // YAML 1.2 requires more indentation, but PyYAML accepts it
  ].join('\r\n')
  const path = fresh(folder, '.yaml')
  await writeFile(path, Buffer.from(`\uFEFF${text}`, 'utf16le'))
  const { chat } = await startImported(folder, ['litellm', path], { LAB_KEY: 'lab-key-1234567' })
  for (const [name, model] of [
    ['one', 'a'],
    ['two', 'b'],
  ] as const)
    assert.equal((await chat(name)).asked, [
      { url: 'http://lab.test/v1/chat/completions', key: 'lab-key-1234567', model },
    ])
})

test('reads the files that a LiteLLM configuration includes', async ({ folder }) => {
  const models = await writeImported(folder, '.yaml', CONFIG)
  const settings = await writeImported(folder, '.yaml', 'router_settings: { num_retries: 4 }\n')
  const names = [models, settings].map((path) => path.split('/').at(-1))
  const path = await writeImported(
    folder,
    '.yaml',
    `include: [${names}]\nmodel_list: [{ model_name: n, litellm_params: { model: gpt-4o-mini } }]\n`,
  )
  const { api, chat, output } = await startImported(folder, ['litellm', path], {
    OPENAI_API_KEY: 'openai-key-1234567',
    OPENAI_API_KEY_2: 'included-key-1234567',
  })
  assert.not.match(output, /canary|^ {2}include/m)
  assert.is((await api.settings.get()).maxAttempts, 5)
  assert.is((await chat('m')).asked[0]?.key, 'included-key-1234567')
  assert.is((await chat('n')).asked[0]?.model, 'gpt-4o-mini')
  const lost = await writeImported(folder, '.yaml', 'include: none.yaml\nmodel_list: []\n')
  const { code, err } = await run('litellm', lost)
  assert.is(code, 1)
  assert.match(err, /Cannot read .*none\.yaml: no such file/)
})
