/*
 * Builds the site as it is published, in docs/dist: the newest release at /signalbox/, and this commit at /signalbox/next/. Before the first
 * release, this commit is at /signalbox/.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The newest of the tags that isn't a prerelease. */
export function findNewestRelease(tags) {
  const releases = tags.filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
  return releases.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
}

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'docs', 'dist')
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })

function build(folder, base, outDir) {
  const env = { ...process.env, DOCS_BASE: base }
  execFileSync(process.execPath, ['setup.mjs', 'docs', 'build', '--outDir', outDir], {
    cwd: folder,
    env,
    stdio: 'inherit',
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tag = findNewestRelease(git('tag', '--list', 'v*').split('\n'))
  if (tag === undefined) build(root, '/signalbox/', out)
  else {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-release-'))
    git('worktree', 'add', '--detach', folder, tag)
    try {
      build(folder, '/signalbox/', out)
    } finally {
      git('worktree', 'remove', '--force', folder)
      rmSync(folder, { recursive: true, force: true })
    }
    build(root, '/signalbox/next/', join(out, 'next'))
  }
}
