import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { manifest } from '../dist/built.ts'
import { type Check, consumer, npmInstall, runProgram } from './installed.ts'

/* The types of the installed package, read by each TypeScript with all declarations checked (`skipLibCheck: false`). */

const entryNames = Object.keys(manifest.exports).filter((name) => name !== './package.json')

const CONSUMER = `${entryNames.map((name, at) => `import * as entry${at} from '${name.replace(/^\./, manifest.name)}'`).join('\n')}
import { createGateway, type Gateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

export const gateway: Gateway = createGateway({ storage: memoryStorage() })
export const answer: Promise<Response> = gateway.fetch(new Request('http://gateway.test/v1/models'))
// @ts-expect-error an option that there is not
createGateway({ storage: memoryStorage(), storrage: 1 })
export const entries: object[] = [${entryNames.map((_, at) => `entry${at}`).join(', ')}]
`

function withTypeScript(version: string): Check {
  return async (installed) => {
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
        include: ['consumer.ts'],
      })
    const place = await consumer(installed, {
      'consumer.ts': CONSUMER,
      'nodenext.json': settings('nodenext', 'nodenext', ['node']),
      'bundler.json': settings('esnext', 'bundler', ['node']),
    })
    await npmInstall(place, `typescript@${version}`, '@types/node@24')
    const [tsc = ''] = (await readdir(join(place, 'node_modules/typescript/bin'))).filter((name) =>
      name.startsWith('tsc'),
    )
    for (const project of ['nodenext.json', 'bundler.json'])
      await runProgram(process.execPath, [join('node_modules/typescript/bin', tsc), '-p', project], { cwd: place })
    return `${entryNames.length} entries`
  }
}

export const typeChecks: Readonly<Record<string, Check>> = Object.fromEntries(
  ['5.6', '5.7', '5.8', '5.9', '6.0', '7.0'].map((version) => [`TypeScript ${version}`, withTypeScript(version)]),
)
