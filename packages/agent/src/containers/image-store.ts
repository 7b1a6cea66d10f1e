import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerExec } from '@sluice/protocol';
import type { TaskContext } from '@sluice/sdk';
import { refusal } from '../attempts/refusal.ts';
import type { ContainerEngine, ImageFacts } from '../engine/container-engine.ts';
import { imagesToRemove } from '../logic/image-collection.ts';
import { failed } from './container-run.ts';

/** How often a pull says how far it is. */
const SAY_EVERY_MS = 500;

/**
 * The images of containers: pulls them, and removes those that it pulled and nobody used for a
 * while. Images that others brought here stay.
 */
export class ImageStore {
  private readonly engine: ContainerEngine;
  private readonly path: string;
  /** When each image that was pulled here was last used. */
  private readonly usedAt = new Map<string, number>();
  /** Number of attempts that use each image now. */
  private readonly uses = new Map<string, number>();

  private constructor(engine: ContainerEngine, path: string) {
    this.engine = engine;
    this.path = path;
  }

  static async open(engine: ContainerEngine, workFolder: string): Promise<ImageStore> {
    const store = new ImageStore(engine, join(workFolder, 'images.json'));
    const text = await readFile(store.path, 'utf8').catch(() => '{}');
    try {
      for (const [name, at] of Object.entries(JSON.parse(text) as Record<string, number>)) {
        store.usedAt.set(name, Number(at));
      }
    } catch {
      // A torn file costs nothing but the images that it listed, which stay.
    }
    return store;
  }

  /** Calls `use` with the image, which is pulled if it has to be and stays meanwhile. */
  async with<T>(
    exec: ContainerExec,
    context: TaskContext,
    use: (image: ImageFacts) => Promise<T>,
  ): Promise<T> {
    const { image: name } = exec;
    this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
    try {
      return await use(await this.find(exec, context));
    } finally {
      const left = (this.uses.get(name) ?? 1) - 1;
      if (left === 0) this.uses.delete(name);
      else this.uses.set(name, left);
      if (this.usedAt.has(name)) this.usedAt.set(name, Date.now());
    }
  }

  /** Removes images that were not used for long, or all unused ones when the disk is full. */
  async collect(ageMsMax: number, isUnderPressure: boolean): Promise<void> {
    const images = [...this.usedAt].map(([name, usedAt]) => ({ name, usedAt }));
    const inUse = new Set(this.uses.keys());
    const rules = { now: Date.now(), ageMsMax, isUnderPressure, inUse };
    for (const name of imagesToRemove(images, rules)) {
      if (await this.engine.removeImage(name)) this.usedAt.delete(name);
    }
    if (images.length > 0) await this.save();
  }

  private async find(exec: ContainerExec, context: TaskContext): Promise<ImageFacts> {
    const { image: name, pull = 'ifNotPresent' } = exec;
    const here = pull === 'always' ? undefined : await this.look(name);
    if (here !== undefined) return here;
    if (pull === 'never') {
      throw refusal('image_not_found', `the image ${name} is not here, and pull is 'never'`);
    }
    await this.pull(exec, context);
    const pulled = await this.look(name);
    if (pulled !== undefined) return pulled;
    throw refusal('image_not_found', `the registry has no image ${name} for this machine`);
  }

  private look(name: string): Promise<ImageFacts | undefined> {
    return this.engine.image(name).catch(failed('pull'));
  }

  private async pull({ image, registryAuth }: ContainerExec, context: TaskContext): Promise<void> {
    const wasHere = (await this.look(image)) !== undefined;
    let saidAt = 0;
    await this.engine
      .pull(image, {
        auth: registryAuth,
        signal: context.signal,
        onProgress: (progress) => {
          if (Date.now() - saidAt < SAY_EVERY_MS) return;
          saidAt = Date.now();
          void context.progress(progress.fraction, `pulls ${image}: ${progress.text}`);
        },
      })
      .catch((cause: unknown) => {
        if (context.signal.aborted) throw context.signal.reason;
        return failed('pull')(cause);
      });
    // The pull is over, and the work of the task has not begun.
    void context.progress(0, `pulled ${image}`);
    if (wasHere) return;
    this.usedAt.set(image, Date.now());
    await this.save();
  }

  private async save(): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(this.usedAt));
    await writeFile(`${this.path}.new`, text, { mode: 0o600 });
    await rename(`${this.path}.new`, this.path);
  }
}
