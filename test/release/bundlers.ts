import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../dist/built.ts'
import { type Check, consumer, npmInstall, readVersion, runProgram } from './installed.ts'
import { expect, PROGRAM, SAMPLE } from './sample.ts'

/* Bundles the installed package with each bundler. The bundle must contain the entire package, and behave like it. */

/** Returns the version of a package that the host tests use. */
async function hostVersion(name: string): Promise<string> {
  const { devDependencies } = JSON.parse(await readFile(new URL('../hosts/package.json', import.meta.url), 'utf8'))
  return `${name}@${devDependencies[name]}`
}

/** Runs a bundle in a folder without packages. */
async function runBundle(folder: string, name: string): Promise<string> {
  expect(await runProgram(process.execPath, [name], { cwd: folder }))
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.m?js$/.test(file))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  if (texts.some((text) => /\bfrom ?["']signalbox/.test(text))) throw new Error('the package is not in the bundle')
  return `${files.length} files, ${texts.reduce((sum, text) => sum + text.length, 0)} bytes`
}

/** Builds a Next app with a route that uses a gateway, and checks the route's response. */
function next(flag: string): Check {
  return async (installed) => {
    const location = await consumer(installed, {
      'app/layout.js':
        'export default function Layout({ children }) {\n  return <html><body>{children}</body></html>\n}\n',
      'app/page.js': 'export default function Page() {\n  return <p>ok</p>\n}\n',
      'app/sample.js': SAMPLE,
      'app/ask/route.js':
        "import { ask } from '../sample.js'\nexport const dynamic = 'force-static'\nexport const GET = async () => new Response(await ask())\n",
      'next.config.mjs': 'export default { turbopack: { root: import.meta.dirname } }\n',
    })
    await npmInstall(location, await hostVersion('next'), await hostVersion('react'), await hostVersion('react-dom'))
    await runProgram(process.execPath, ['node_modules/next/dist/bin/next', 'build', flag], {
      cwd: location,
      env: { NEXT_TELEMETRY_DISABLED: '1', CI: '1' },
    })
    expect(await readFile(join(location, '.next/server/app/ask.body'), 'utf8')) // the route ran during the build
    return readVersion(location, 'next')
  }
}

export const bundlers: Readonly<Record<string, Check>> = {
  esbuild: async (installed) => {
    const location = await consumer(installed, { 'program.mjs': PROGRAM })
    const esbuild = join(root, 'node_modules/esbuild/bin/esbuild')
    await runProgram(
      esbuild,
      ['program.mjs', '--bundle', '--splitting', '--format=esm', '--platform=node', '--outdir=out'],
      { cwd: location },
    )
    return `${await readVersion(root, 'esbuild')}, ${await runBundle(join(location, 'out'), 'program.js')}`
  },
  Vite: async (installed) => {
    const config = `export default {
  ssr: { noExternal: true },
  build: { ssr: 'program.mjs', outDir: 'out', target: 'node20', rollupOptions: { output: { entryFileNames: 'program.mjs' } } },
}\n`
    const location = await consumer(installed, { 'program.mjs': PROGRAM, 'vite.config.mjs': config })
    await npmInstall(location, await hostVersion('vite'))
    await runProgram(process.execPath, ['node_modules/vite/bin/vite.js', 'build'], { cwd: location })
    return `${await readVersion(location, 'vite')}, ${await runBundle(join(location, 'out'), 'program.mjs')}`
  },
  Rspack: async (installed) => {
    const script = `import { rspack } from '@rspack/core'
const compiler = rspack({
  mode: 'production', target: 'node20', entry: './program.mjs', experiments: { outputModule: true },
  output: { path: import.meta.dirname + '/out', filename: 'program.mjs', chunkFilename: '[id].mjs', module: true, chunkFormat: 'module', library: { type: 'module' } },
})
compiler.run((error, stats) => {
  if (error || stats.hasErrors()) { console.error(error ?? stats.toString()); process.exit(1) }
})
`
    const location = await consumer(installed, { 'program.mjs': PROGRAM, 'build.mjs': script })
    await npmInstall(location, '@rspack/core@2.3.3')
    await runProgram(process.execPath, ['build.mjs'], { cwd: location })
    return `${await readVersion(location, '@rspack/core')}, ${await runBundle(join(location, 'out'), 'program.mjs')}`
  },
  'Next with Turbopack': next('--turbopack'),
  'Next with webpack': next('--webpack'),
}
