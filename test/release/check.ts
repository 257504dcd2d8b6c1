import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { manifest, root } from '../dist/built.ts'
import { bundlers } from './bundlers.ts'
import {
  findSbomFaults,
  machineTraces,
  misstated,
  overBudget,
  packageSbom,
  readNotes,
  strangeFiles,
} from './contents.ts'
import { type Check, type Installed, npmInstall, runProgram } from './installed.ts'
import { runtimes } from './runtimes.ts'
import { sourceFaults } from './source.ts'
import { typeChecks } from './types.ts'

/*
 * npm run release -- --check [--tag v0.2.0] [--out release] [--files] [--only part]
 *
 * Builds the package from this clone, and checks it the way users get it: everything about a release that doesn't need an account. With --tag, the
 * clone must be that tag of main, without changes. --out is the folder for the package, its SBOM, its checksums, and its notes. --files checks only
 * the package's files, and runs no code except packages in package-lock.json. --only runs the checks whose names contain this text.
 */

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean' },
      files: { type: 'boolean' },
      tag: { type: 'string' },
      out: { type: 'string' },
      only: { type: 'string' },
    },
  })
  if (!values.check) throw new Error('say --check: releases are made by the workflow, from a tag')
  const { tag, only = '' } = values
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const failed: string[] = []
  const step = async (name: string, check: () => Promise<string>) => {
    if (!name.includes(only)) return
    const start = performance.now()
    const seconds = () => `${((performance.now() - start) / 1_000).toFixed(1)} s`
    await check().then(
      (content) => console.log(`✓ ${name} (${seconds()})${content && `: ${content}`}`),
      (error) => {
        failed.push(name)
        console.log(`✘ ${name} (${seconds()}): ${error instanceof Error ? error.message : error}`)
      },
    )
  }
  const throwIfFailed = () => {
    if (failed.length > 0) throw new Error(`not ready for a release: ${failed.join(', ')}`)
  }
  if (tag !== undefined)
    await step('source', async () => {
      const faults = await sourceFaults(root, tag)
      if (faults.length > 0) throw new Error(faults.join('; '))
      return `the tag ${tag}, a part of main`
    })
  let notes = ''
  await step('notes', async () => {
    notes = readNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version, tag)
    return `${notes.length} characters for ${version}`
  })
  throwIfFailed() // before spending minutes on a package that can't be released

  const work = await mkdtemp(join(tmpdir(), 'signalbox-release-'))
  const out = values.out === undefined ? join(work, 'release') : resolve(root, values.out)
  try {
    await mkdir(out, { recursive: true })
    await writeFile(join(out, 'notes.md'), `${notes}\n`)
    const installed = await packAndInstall(out, work)
    const users = values.files ? {} : { ...runtimes, ...bundlers, ...typeChecks }
    for (const [name, check] of Object.entries({ ...packageChecks(out), ...users }))
      await step(name, () => check(installed))
    const names = (await readdir(out)).filter((name) => /\.(?:tgz|cdx\.json)$/.test(name))
    const totals = await Promise.all(names.map(async (name) => `${await sha256(join(out, name))}  ${name}\n`))
    await writeFile(join(out, 'SHA256SUMS'), totals.join(''))
    console.log(totals.join('').trimEnd())
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  throwIfFailed()
  console.log('Everything that needs no account is as a release needs it.')
}

async function packAndInstall(out: string, work: string): Promise<Installed> {
  for (const name of await readdir(out)) if (/\.tgz$/.test(name)) await rm(join(out, name))
  await runProgram(process.execPath, ['llms.mjs'], { cwd: root })
  await runProgram('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], { cwd: root })
  const name = (await readdir(out)).find((value) => value.endsWith('.tgz'))
  if (name === undefined) throw new Error('npm has packed nothing')
  const tarball = join(out, name)
  const folder = join(work, 'empty')
  await mkdir(folder)
  await writeFile(
    join(folder, 'package.json'),
    '{ "name": "consumer", "version": "1.0.0", "private": true, "type": "module" }\n',
  )
  await npmInstall(folder, tarball)
  return { folder, tarball }
}

/** Returns the names of the files in the tarball, relative to the package folder. */
async function listFiles({ folder, tarball }: Installed): Promise<string[]> {
  const listed = await runProgram('tar', ['-tzf', tarball], { cwd: folder })
  return listed
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
}

/** Returns the size in bytes of the tarball, of the package's files, and of everything installed with the package. */
const countBytes = async ({ folder, tarball }: Installed) => ({
  packed: (await stat(tarball)).size,
  unpacked: await bytesBelow(join(folder, 'node_modules', manifest.name)),
  installed: await bytesBelow(join(folder, 'node_modules')),
})

/** The checks of the package's own files and of the packages installed with it. `out` is the folder for the SBOM. */
export function packageChecks(out: string): Record<string, Check> {
  return {
    'files and sizes': async (installed) => {
      const names = await listFiles(installed)
      const strange = strangeFiles(names)
      if (strange.length > 0) throw new Error(`should not be in the package: ${strange.join(', ')}`)
      const sizes = { files: names.length, ...(await countBytes(installed)) }
      const over = overBudget(sizes)
      if (over.length > 0) throw new Error(over.join('; '))
      return Object.entries(sizes)
        .map(([name, size]) => `${name} ${size}`)
        .join(', ')
    },
    'sizes on the front page': async (installed) => {
      const wrong = misstated(await readFile(join(root, 'README.md'), 'utf8'), await countBytes(installed))
      if (wrong.length > 0) throw new Error(wrong.join('; '))
      return ''
    },
    'no build machine paths': async ({ folder }) => {
      const files = await filesBelow(join(folder, 'node_modules', manifest.name))
      const homes = [root, `${homedir()}/`, folder].filter((path) => path.length > 2)
      const found = await Promise.all(
        files.map(async (path) => {
          const traces = machineTraces(await readFile(path, 'utf8'), homes)
          return traces.length > 0 ? [`${path.slice(folder.length)} has ${traces.join(' and ')}`] : []
        }),
      )
      if (found.flat().length > 0) throw new Error(found.flat().join('; '))
      return `${files.length} files`
    },
    publint: async ({ tarball }) => {
      await runProgram(process.execPath, [bin('publint/src/cli.js'), 'run', '--strict', tarball], { cwd: root })
      return ''
    },
    'are the types wrong': async ({ tarball }) => {
      const args = [
        bin('@arethetypeswrong/cli/dist/index.js'),
        tarball,
        '--profile',
        'esm-only',
        '--no-definitely-typed',
        '--no-color',
        '--no-emoji',
      ]
      await runProgram(process.execPath, args, { cwd: root })
      return ''
    },
    sbom: async ({ folder }) => {
      const text = await runProgram('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit=dev'], { cwd: folder })
      const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
      const sbom = packageSbom(JSON.parse(text), packages)
      const faults = findSbomFaults(sbom)
      if (faults.length > 0) throw new Error(faults.join('; '))
      await writeFile(join(out, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
      return `${sbom.components.length} components`
    },
    'no install scripts in dependencies': async ({ folder }) => {
      const lock: { packages: Record<string, { hasInstallScript?: boolean }> } = JSON.parse(
        await readFile(join(folder, 'package-lock.json'), 'utf8'),
      )
      const found = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
      if (found.length > 0) throw new Error(found.map(([name]) => name).join(', '))
      return `${Object.keys(lock.packages).length - 1} packages, of which ${Object.keys(manifest.dependencies).length} are named by this one`
    },
  }
}

const bin = (path: string) => join(root, 'node_modules', path)

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

async function bytesBelow(folder: string): Promise<number> {
  const sizes = await Promise.all((await filesBelow(folder)).map(async (path) => (await stat(path)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

if (import.meta.main)
  await main().catch((error) => {
    console.error(`release: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  })
