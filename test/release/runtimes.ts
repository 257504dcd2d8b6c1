import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { manifest, root } from '../dist/built.ts'
import { portable } from '../dist/portable.ts'
import { type Check, consumer, npmInstall, readVersion, runProgram } from './installed.ts'
import { expect, PROGRAM, SAMPLE } from './sample.ts'

/* Tests the installed package on each runtime. */

const inRuntimes = (path: string) => join(root, 'test/runtimes/node_modules', path)

/** Modules that load only on one runtime. */
const OWN = ['bun', 'deno', 'workers', 'service-worker']

/** The package entries that load on every runtime. */
const entryNames = Object.keys(manifest.exports)
  .filter((name) => !name.endsWith('.json') && !OWN.includes(name.slice(2)))
  .map((name) => name.replace(/^\./, manifest.name))

const imports = `${entryNames.map((name) => `await import('${name}')`).join('\n')}\n`

/** The command stores its data in Node's SQLite. Everything else works on Node 20. */
const OLDEST_OF_THE_COMMAND = 22

/** Runs a Node version from npm's `node` package, which contains only the executable. */
function onNode(major: number): Check {
  return async (installed) => {
    const tools = await mkdtemp(join(installed.folder, '../node-'))
    await writeFile(join(tools, 'package.json'), '{}')
    const platform = process.platform === 'win32' ? 'win' : process.platform
    const name = `node-${platform}-${process.arch}`
    await npmInstall(tools, `${name}@${major}`)
    const node = join(tools, 'node_modules', name, platform === 'win' ? 'bin/node.exe' : 'bin/node')
    const version = (await runProgram(node, ['--version'], { cwd: tools })).trim()
    const location = await consumer(installed, { 'program.mjs': PROGRAM, 'imports.mjs': imports })
    expect(await runProgram(node, ['program.mjs'], { cwd: location }))
    const output = await runProgram(node, ['imports.mjs'], { cwd: location })
    if (output !== '') throw new Error(`importing prints ${output}`)
    const help = runProgram(node, ['node_modules/signalbox/dist/cli.js', '--help'], { cwd: location })
    if (major >= OLDEST_OF_THE_COMMAND) {
      if (!(await help).includes('signalbox [options]')) throw new Error('the command has no help')
    } else {
      const refusal = await help.then(String, String)
      if (!/Node\.js [\d.]+ is too old\. Install 22\.13\.0 or later/.test(refusal))
        throw new Error(`the command says ${refusal}`)
    }
    return `${version}, ${entryNames.length} entries`
  }
}

export const runtimes: Readonly<Record<string, Check>> = {
  'Node 20': onNode(20),
  'Node 22': onNode(22),
  'Node 24': onNode(24),
  'Node 26': onNode(26),
  Bun: async (installed) => {
    const location = await consumer(installed, { 'program.mjs': PROGRAM })
    const bun = inRuntimes('.bin/bun')
    expect(await runProgram(bun, ['program.mjs'], { cwd: location }))
    return (await runProgram(bun, ['--version'], { cwd: location })).trim()
  },
  Deno: async (installed) => {
    const location = await consumer(installed, { 'program.mjs': PROGRAM })
    const deno = inRuntimes('.bin/deno')
    expect(
      await runProgram(deno, ['run', '--allow-env', '--node-modules-dir=manual', '--no-prompt', 'program.mjs'], {
        cwd: location,
      }),
    )
    return (await runProgram(deno, ['--version'], { cwd: location })).split('\n')[0] ?? ''
  },
  workerd: async (installed) => {
    const worker = `${SAMPLE}\nexport default { fetch: async () => new Response(await ask()) }\n`
    const location = await consumer(installed, { 'worker.mjs': worker })
    await build({
      ...portable,
      write: true,
      entryPoints: [join(location, 'worker.mjs')],
      outfile: join(location, 'out.mjs'),
      absWorkingDir: location,
    })
    const script = `
      import { Miniflare } from 'miniflare'
      const scriptPath = ${JSON.stringify(join(location, 'out.mjs'))}
      const miniflare = new Miniflare({ modules: true, scriptPath, modulesRoot: ${JSON.stringify(location)}, compatibilityDate: '2026-01-01' })
      console.log(await (await miniflare.dispatchFetch('http://worker.test/')).text())
      await miniflare.dispose()`
    expect(
      await runProgram(process.execPath, ['--input-type=module', '--eval', script], {
        cwd: join(root, 'test/runtimes'),
      }),
    )
    return readVersion(join(root, 'test/runtimes'), 'workerd')
  },
}
