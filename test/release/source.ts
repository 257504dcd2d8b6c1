import { runProgram } from './installed.ts'

/**
 * Returns the reasons why the clone in `folder` can't be released under a tag, one per line. Its files must match the tag exactly, and the tag must
 * be on `main` of `origin`, so nothing unmerged is released. The clone must include the history of `main`.
 */
export async function sourceFaults(folder: string, tag: string): Promise<string[]> {
  const git = async (...args: string[]) => (await runProgram('git', args, { cwd: folder })).trim()
  const readCommit = (name: string) =>
    git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => undefined)
  const changed = (await git('status', '--porcelain')).split('\n').filter((line) => line !== '')
  const [head, tagged, main] = [
    await readCommit('HEAD'),
    await readCommit(`refs/tags/${tag}`),
    await readCommit('refs/remotes/origin/main'),
  ]
  const isOnMain =
    head !== undefined &&
    main !== undefined &&
    (await git('merge-base', '--is-ancestor', head, main).then(
      () => true,
      () => false,
    ))
  return [
    ...(changed.length > 0 ? [`the clone has changes: ${changed.map((line) => line.trim()).join(', ')}`] : []),
    ...(tagged === undefined ? [`there is no tag ${tag} in the clone`] : []),
    ...(tagged !== undefined && tagged !== head ? [`the clone is at another commit than the tag ${tag}`] : []),
    ...(isOnMain ? [] : ['the commit is not on main of origin, or the clone is without its history']),
  ]
}
