/* The build compiles JSX to calls of these functions. */
export { Fragment, h } from 'preact'
