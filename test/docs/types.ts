import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import { entries } from '../../tsup.config.ts'
import type { Block } from './pages.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the reason why a JavaScript block can't be parsed, or an empty list. */
export function syntaxErrors({ place, code }: Block): string[] {
  try {
    transformSync(code, { loader: 'js', format: 'esm', logLevel: 'silent' })
    return []
  } catch (error) {
    return [`${place}: ${error}`]
  }
}

/**
 * Returns the compiler errors in TypeScript blocks. Each block is a separate module that can use the names declared in context.d.ts and
 * packages.d.ts.
 */
export async function typeErrors(blocks: readonly Block[]): Promise<string[]> {
  const folder = join(root, `node_modules/.cache/signalbox/docs-${process.pid}`) // a folder from which the repository's packages resolve
  const sources = Object.entries(entries).map(([name, source]) => [
    name === 'index' ? 'signalbox' : `signalbox/${name}`,
    [join(root, source)],
  ])
  const options = {
    extends: join(root, 'tsconfig.test.json'),
    compilerOptions: {
      lib: ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      paths: Object.fromEntries(sources),
      typeRoots: [join(root, 'node_modules/@types')],
      verbatimModuleSyntax: false,
      exactOptionalPropertyTypes: false, // not strict about index signatures, like most programs, because `process.env.NAME` may be undefined
    },
    include: [join(folder, '*.ts'), join(root, 'test/docs/*.d.ts')],
    exclude: [],
  }
  await mkdir(folder, { recursive: true })
  try {
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
    await Promise.all(blocks.map(({ code }, index) => writeFile(join(folder, `block-${index}.ts`), code)))
    const compiler = join(root, 'node_modules/tsc7/bin/tsc')
    const args = [compiler, '--noEmit', '--pretty', 'false', '-p', folder]
    const { stdout } = await execute(process.execPath, args).catch((failed: { stdout: string }) => failed)
    const errors = stdout.split(/\n(?! )/) // continuation lines are indented
    const ofTheirs = errors.filter((error) => /block-\d+\.ts|test\/docs\//.test(error)) // options that only the source uses
    return ofTheirs.map((error) => error.replace(/\S*block-(\d+)\.ts/, (_, at) => blocks[Number(at)]?.place ?? ''))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
