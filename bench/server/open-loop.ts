/** Open loop: it catches up when it is late, and does not wait for answers. */
export async function atRate(
  rate: number,
  tasks: number,
  submit: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const submits: Promise<void>[] = [];
  while (submits.length < tasks) {
    const due = Math.min(tasks, ((performance.now() - startedAt) * rate) / 1000);
    while (submits.length < due) submits.push(submit());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(submits);
}
