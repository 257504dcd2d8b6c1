import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { manifest } from '../dist/built.ts'
import { CONFIG_CONSUMER } from './config-mistakes.ts'
import { type Check, consumer, npmInstall, readVersion, runProgram } from './installed.ts'

/* Type-checks the installed package with each TypeScript version, including all declarations (`skipLibCheck: false`). */

const entryNames = Object.keys(manifest.exports).filter((name) => !name.endsWith('.json'))

const CONSUMER = `${entryNames.map((name, index) => `import * as entry${index} from '${name.replace(/^\./, manifest.name)}'`).join('\n')}
import { createGateway, type Gateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

export const gateway: Gateway = createGateway({ storage: memoryStorage() })
export const answer: Promise<Response> = gateway.fetch(new Request('http://gateway.test/v1/models'))
// @ts-expect-error an option that there is not
createGateway({ storage: memoryStorage(), storrage: 1 })
export const entries: object[] = [${entryNames.map((_, index) => `entry${index}`).join(', ')}]
`

const settings = (module: string, moduleResolution: string, types: string[]) =>
  JSON.stringify({
    compilerOptions: {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      types,
    },
    include: ['*.ts'],
  })

function withTypeScript(version: string): Check {
  return async (installed) => {
    const location = await consumer(installed, {
      'consumer.ts': CONSUMER,
      'config.ts': CONFIG_CONSUMER,
      'nodenext.json': settings('nodenext', 'nodenext', ['node']),
      'bundler.json': settings('esnext', 'bundler', ['node']),
    })
    await npmInstall(location, `typescript@${version}`, '@types/node@24')
    for (const project of ['nodenext.json', 'bundler.json']) await compile(location, project)
    return `${await readVersion(location, 'typescript')}, ${entryNames.length} entries`
  }
}

async function compile(location: string, project: string): Promise<void> {
  const [tsc = ''] = (await readdir(join(location, 'node_modules/typescript/bin'))).filter((name) =>
    name.startsWith('tsc'),
  )
  await runProgram(process.execPath, [join('node_modules/typescript/bin', tsc), '-p', project], { cwd: location })
}

/** The models of `signalbox/ai` as AI SDK types, whose interface names contain the specification version. */
const MODELS = ['language', 'embedding', 'reranking', 'image', 'speech', 'transcription']

function asModelsOf(version: string, specification: 'v3' | 'v4'): Check {
  return async (installed) => {
    const models = MODELS.map((name) => ({
      name,
      type: `${name[0]?.toUpperCase()}${name.slice(1)}Model${specification.toUpperCase()}`,
    }))
    const provider = `Provider${specification.toUpperCase()}`
    const lines = [
      `import type { ${models.map(({ type }) => type).join(', ')}, ${provider} } from '@ai-sdk/provider'`,
      "import type { Signalbox } from 'signalbox/ai'",
      `export const models = (signalbox: Signalbox<'${specification}'>): object[] => {`,
      ...models.map(({ name, type }) => `  const ${name}: ${type} = signalbox.${name}Model('m')`),
      `  const provider: ${provider} = signalbox`,
      `  return [provider, ${MODELS.join(', ')}]`,
      '}',
    ]
    const bundler = settings('esnext', 'bundler', ['node'])
    const location = await consumer(installed, { 'consumer.ts': lines.join('\n'), 'bundler.json': bundler })
    await npmInstall(
      location,
      `@ai-sdk/provider@${version}`,
      'typescript@5.9',
      '@types/node@24',
      '@types/json-schema@7',
    )
    await compile(location, 'bundler.json')
    return `${await readVersion(location, '@ai-sdk/provider')}, a provider of ${MODELS.length} kinds of models`
  }
}

/** The oldest and the newest package versions of each generation. */
const PROVIDERS = { '3.0.0': 'v3', '3': 'v3', '4.0.0': 'v4', '4': 'v4' } as const

export const typeChecks: Readonly<Record<string, Check>> = Object.fromEntries([
  ...['5.6', '5.7', '5.8', '5.9', '6.0', '7.0'].map(
    (version) => [`TypeScript ${version}`, withTypeScript(version)] as const,
  ),
  ...Object.entries(PROVIDERS).map(
    ([version, specification]) => [`@ai-sdk/provider ${version}`, asModelsOf(version, specification)] as const,
  ),
])
