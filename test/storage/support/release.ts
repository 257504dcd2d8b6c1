import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import type * as fileModule from '../../../adapters/storage/file.ts'
import type * as gatewayModule from '../../../src/gateway.ts'
import { skip } from '../../support/suite.ts'
import { temporaryFolder } from './folder.ts'

/** The exports that the tests use from an earlier version of this package. */
export interface Release {
  createGateway: typeof gatewayModule.createGateway
  fileStorage: typeof fileModule.fileStorage
}

const CACHE = join('node_modules', '.cache', 'signalbox-releases')

/** Builds an earlier commit from the Git repository, once. If the clone doesn't contain that commit, skips the test with the reason. */
export async function release(commit: string): Promise<Release> {
  const outfile = join(process.cwd(), CACHE, `${commit}.mjs`)
  if (!existsSync(outfile)) await bundle(commit, outfile)
  return import(outfile)
}

async function bundle(commit: string, outfile: string): Promise<void> {
  const tar = readArchive(commit) ?? skip(`the clone does not have the commit ${commit}`)
  const { path, remove } = await temporaryFolder()
  execFileSync('tar', ['-x', '-C', path], { input: tar })
  await symlink(join(process.cwd(), 'node_modules'), join(path, 'node_modules'), 'junction')
  await mkdir(CACHE, { recursive: true })
  const unfinished = `${outfile}.${process.pid}`
  await build({
    stdin: {
      contents: `export { createGateway } from './src/gateway.ts'; export { fileStorage } from './adapters/storage/file.ts'`,
      resolveDir: path,
    },
    outfile: unfinished,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  await rename(unfinished, outfile)
  await remove()
}

function readArchive(commit: string): Buffer | undefined {
  try {
    const maxBuffer = 100 * 1024 * 1024
    return execFileSync('git', ['archive', commit, 'src', 'adapters', 'package.json'], { maxBuffer, stdio: 'pipe' })
  } catch {
    return undefined
  }
}
