import { assert, skip, suite } from '../support/suite.ts'
import type { MockedCall } from './provider.ts'
import { getProgram, readRecipes } from './recipes.ts'
import { openWorkbench, READ, RUN_MS, type ToolRun, type Workbench } from './workbench.ts'

if (process.platform === 'win32') skip('tools: the recipes are for a POSIX shell')

const recipes = await readRecipes()

/** A tool, and additions to its recipe that keep it from asking a user or contacting its vendor. `~` is the tool's home folder. */
interface Tool {
  command: string
  call(path: string): MockedCall
  more?: string[]
  env?: Record<string, string>
  files?: Record<string, string>
}

const withoutStatistics = JSON.stringify({ privacy: { usageStatisticsEnabled: false } })

const tools: Readonly<Record<string, Tool>> = {
  'Claude Code': {
    command: 'claude',
    call: (file_path) => ({ name: 'Read', arguments: { file_path } }),
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  },
  Codex: {
    command: 'codex',
    call: (path) => ({ name: 'exec_command', arguments: { cmd: `cat '${path}'` } }),
    more: [
      ...['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      ...['-c', 'check_for_update_on_startup=false', '-c', 'analytics.enabled=false'],
    ],
  },
  'Gemini CLI': {
    command: 'gemini',
    call: (file_path) => ({ name: 'read_file', arguments: { file_path } }),
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_SYSTEM_SETTINGS_PATH: '~/system.json' },
    files: { 'system.json': withoutStatistics },
  },
  'Qwen Code': {
    command: 'qwen',
    call: (file_path) => ({ name: 'read_file', arguments: { file_path } }),
    env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: '~/system.json' },
    files: { 'system.json': withoutStatistics },
  },
  opencode: {
    command: 'opencode',
    call: (filePath) => ({ name: 'read', arguments: { filePath } }),
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
  Cline: {
    command: 'cline',
    call: (path) => ({ name: 'read_files', arguments: { paths: [path] } }),
    // Keeps the tool from starting a background process.
    env: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_GLOBAL_SETTINGS_PATH: '~/settings.json' },
    files: { 'settings.json': JSON.stringify({ telemetryOptOut: true }) },
  },
  Continue: {
    command: 'cn',
    call: (filepath) => ({ name: 'Read', arguments: { filepath } }),
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  },
}

/** Follows a tool's recipe, with a model that reads a file. Skips the test if the tool isn't installed. */
async function follow(
  name: string,
  check: (run: ToolRun, bench: Workbench) => void,
  extra: { arguments?: string[]; config?: string } = {},
): Promise<void> {
  const tool = tools[name]
  const recipe = recipes.get(name)
  assert.ok(tool && recipe, name)
  const program = getProgram(tool.command) ?? skip(`tools: ${tool.command} is not installed in test/tools`)
  const own = [...recipe.files].map(([path, text]): [string, string] => [path, text + (extra.config ?? '')])
  const files = new Map([...own, ...Object.entries(tool.files ?? {})])
  const bench = await openWorkbench(tool.call)
  try {
    const added = [...(tool.more ?? []), ...(extra.arguments ?? [])]
    check(await bench.follow({ ...recipe, files }, { ...tool, program, more: added }), bench)
  } finally {
    await bench.close()
  }
}

const test = suite('coding tool recipes')

for (const name of Object.keys(tools))
  test(`with its recipe, ${name} responds and runs its built-in tool`, { timeoutMs: RUN_MS + 10_000 }, () =>
    follow(name, ({ code, output }, { refused, requests }) => {
      assert.ok(output.includes(READ), output)
      assert.is(code, 0, output)
      assert.equal(refused, [], 'the gateway rejects no request')
      assert.ok(requests.length >= 2, 'one request for the prompt, and one for the tool result')
    }),
  )

test('the recipe for Claude Code uses a model that Claude Code recognizes', { timeoutMs: RUN_MS + 10_000 }, () =>
  follow('Claude Code', ({ output }, { requests }) => {
    assert.not.match(output, /recognize/)
    assert.equal([...new Set(requests.map(({ model }) => model))], ['claude-sonnet-5-5'])
  }),
)

test('the recipe for Claude Code also maps the model alias haiku', { timeoutMs: RUN_MS + 10_000 }, () =>
  follow(
    'Claude Code',
    ({ output }, { requests }) => {
      assert.ok(output.includes(READ), output)
      assert.equal([...new Set(requests.map(({ model }) => model))], ['claude-sonnet-5-5'])
    },
    { arguments: ['--model', 'haiku'] },
  ),
)

test("the recipe for Codex works with a model that can't search", { timeoutMs: RUN_MS + 10_000 }, () =>
  follow('Codex', (_, { requests }) => {
    for (const { warnings } of requests) assert.match(warnings?.join() ?? '', /dropped:tools\[\d+\](?:,|$)/)
  }),
)

test(
  'the recipe for Codex makes Codex switch from WebSocket to HTTP after one attempt',
  { timeoutMs: RUN_MS + 10_000 },
  () =>
    follow(
      'Codex',
      ({ output }, { refused }) => {
        assert.ok(output.includes(READ), output)
        assert.equal(refused, ['GET /v1/responses: 426'], 'only one WebSocket attempt')
      },
      { config: 'supports_websockets = true\n' },
    ),
)

test('the coding tools page has a recipe for every tested tool, and for Cursor', () => {
  assert.equal([...recipes.keys()].toSorted(), [...Object.keys(tools), 'Cursor'].toSorted())
})
