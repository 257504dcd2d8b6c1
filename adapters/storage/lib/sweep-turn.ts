/** Creates a function that returns `true` for one in `every` writes on average, regardless of how many short-lived instances make them. */
export function createSweepTurn(every: number): () => boolean {
  let writes: number | undefined
  return () => {
    writes = (writes ?? Math.floor(Math.random() * every)) + 1
    return writes % every === 0
  }
}
