import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'
import { CONFIG_CONSUMER } from '../release/config-mistakes.ts'
import { runProgram } from '../release/installed.ts'
import { assert, suite } from '../support/suite.ts'
import { root } from './built.ts'

/*
 * Checks the types of a configuration in code the way editors of apps see them. The release check compiles the same program with each TypeScript
 * version since 5.6.
 */

const test = suite('configuration types', { folder: '' })

const compilerOptions = {
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  types: [],
  paths: { signalbox: [join(root, 'dist/index.d.ts')] },
}

test.before(async (context) => {
  context.folder = join(root, `node_modules/.cache/signalbox/config-types-${process.pid}`)
  await mkdir(context.folder, { recursive: true })
  await writeFile(join(context.folder, 'consumer.ts'), CONFIG_CONSUMER)
  await writeFile(
    join(context.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['consumer.ts'], exclude: [] }),
  )
})

test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

for (const compiler of ['tsc7', 'typescript'])
  test(`configuration mistakes are type errors, and valid code needs no annotations (${compiler})`, async ({
    folder,
  }) => {
    assert.ok((CONFIG_CONSUMER.match(/@ts-expect-error/g)?.length ?? 0) > 12)
    const args = [join(root, 'node_modules', compiler, 'bin/tsc'), '--pretty', 'false', '-p', folder]
    assert.is(await runProgram(process.execPath, args, { cwd: root }), '')
  })

/** Lists the completions that an editor offers at `|` in a `createGateway` call. */
function complete(folder: string, config: string): string[] {
  const path = join(folder, 'completed.ts')
  const text = `import { createGateway } from 'signalbox'\ncreateGateway(${config})\n`
  const index = text.indexOf('|')
  const source = text.replace('|', '')
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, root)
  const service = ts.createLanguageService({
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getCompilationSettings: () => options,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const content = name === path ? source : ts.sys.readFile(name)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    readFile: (name) => (name === path ? source : ts.sys.readFile(name)),
  })
  return service.getCompletionsAtPosition(path, index, {})?.entries.map(({ name }) => name) ?? []
}

test('an editor completes providers, models, fields, and strategies', ({ folder }) => {
  const cases: ReadonlyArray<[string, string[]]> = [
    ['{ connections: { | } }', ['openai', 'anthropic', 'bedrock']],
    ["{ connections: { mine: { provider: '|' } } }", ['openai', 'anthropic', 'bedrock']],
    ['{ connections: { mine: { | } } }', ['apiKey', 'baseUrl', 'enabledModels', 'provider']],
    ["{ combos: { smart: ['|'] } }", ['openai/gpt-5.5', 'anthropic/claude-sonnet-4-5']],
    ["{ combos: { smart: { models: [], strategy: '|' } } }", ['fallback', 'round-robin']],
    ["{ models: { 'a/b': '|' } }", ['embedding', 'image']],
    ['{ plans: { free: { | } } }', ['each', 'limits', 'models', 'require']],
    ["{ combos: { smart: { models: [], on: ['|'] } } }", ['content', 'schema']],
    ["{ route: () => ['|'] }", ['openai/gpt-5.5', 'anthropic/claude-sonnet-4-5']],
    ["{ route: () => ({ models: ['|'] }) }", ['openai/gpt-5.5', 'anthropic/claude-sonnet-4-5']],
  ]
  for (const [config, wanted] of cases) {
    const offered = complete(folder, config)
    assert.equal(
      wanted.filter((name) => !offered.includes(name)),
      [],
      `${config} offers ${offered.slice(0, 10).join(', ')}`,
    )
  }
})
