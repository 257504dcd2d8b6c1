import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { manifest, root } from '../dist/built.ts'
import { bundlers } from './bundlers.ts'
import { notesOf, overBudget, sbomFaults, strangeFiles } from './contents.ts'
import { type Check, type Installed, npmInstall, runProgram } from './installed.ts'
import { runtimes } from './runtimes.ts'
import { typeChecks } from './types.ts'

/*
 * npm run release -- --check [--tag v0.2.0] [--out release] [--only part]
 * Makes the package of this commit, and checks it as its users get it: everything of a release that needs no account. With --out, the package, its SBOM, its
 * checksums and its notes are left there. --only: the checks whose names hold this text.
 */

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, tag: { type: 'string' }, out: { type: 'string' }, only: { type: 'string' } },
  })
  if (!values.check) throw new Error('say --check: releases are made by the workflow, from a tag')
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const work = await mkdtemp(join(tmpdir(), 'signalbox-release-'))
  const out = values.out === undefined ? join(work, 'release') : resolve(root, values.out)
  await mkdir(out, { recursive: true })
  const failed: string[] = []
  const step = async (name: string, check: () => Promise<string>) => {
    if (values.only !== undefined && !name.includes(values.only)) return
    const start = performance.now()
    const seconds = () => `${((performance.now() - start) / 1_000).toFixed(1)} s`
    await check().then(
      (said) => console.log(`✓ ${name} (${seconds()})${said && `: ${said}`}`),
      (error) => {
        failed.push(name)
        console.log(`✘ ${name} (${seconds()}): ${error instanceof Error ? error.message : error}`)
      },
    )
  }
  try {
    const installed = await packAndInstall(out, work)
    await step('notes', async () => {
      const notes = notesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version, values.tag)
      await writeFile(join(out, 'notes.md'), `${notes}\n`)
      return `${notes.length} characters for ${version}`
    })
    for (const [name, check] of Object.entries({ ...packageChecks(out), ...runtimes, ...bundlers, ...typeChecks }))
      await step(name, () => check(installed))
    const sums = await Promise.all(
      (await readdir(out))
        .filter((name) => /\.(?:tgz|cdx\.json)$/.test(name))
        .map(
          async (name) =>
            `${createHash('sha256')
              .update(await readFile(join(out, name)))
              .digest('hex')}  ${name}\n`,
        ),
    )
    await writeFile(join(out, 'SHA256SUMS'), sums.join(''))
    console.log(sums.join('').trimEnd())
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  if (failed.length > 0) throw new Error(`not ready for a release: ${failed.join(', ')}`)
  console.log('Everything that needs no account is as a release needs it.')
}

async function packAndInstall(out: string, work: string): Promise<Installed> {
  for (const name of await readdir(out)) if (/\.tgz$/.test(name)) await rm(join(out, name))
  await runProgram(process.execPath, ['llms.mjs'], { cwd: root })
  await runProgram('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], { cwd: root })
  const name = (await readdir(out)).find((one) => one.endsWith('.tgz'))
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

function packageChecks(out: string): Record<string, Check> {
  return {
    'files and bytes': async ({ folder, tarball }) => {
      const listed = await runProgram('tar', ['-tzf', tarball], { cwd: folder })
      const names = listed
        .trim()
        .split('\n')
        .map((name) => name.replace(/^package\//, ''))
      const strange = strangeFiles(names)
      if (strange.length > 0) throw new Error(`should not be in the package: ${strange.join(', ')}`)
      const sizes = {
        files: names.length,
        packed: (await stat(tarball)).size,
        unpacked: await bytesBelow(join(folder, 'node_modules/signalbox')),
        installed: await bytesBelow(join(folder, 'node_modules')),
      }
      const over = overBudget(sizes)
      if (over.length > 0) throw new Error(over.join('; '))
      return Object.entries(sizes)
        .map(([name, size]) => `${name} ${size}`)
        .join(', ')
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
      const sbom = JSON.parse(text)
      const faults = sbomFaults(sbom)
      if (faults.length > 0) throw new Error(faults.join('; '))
      await writeFile(join(out, 'sbom.cdx.json'), text)
      return `${sbom.components.length} components`
    },
    'no script of a dependency': async ({ folder }) => {
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

async function bytesBelow(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

await main().catch((error) => {
  console.error(`release: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
})
