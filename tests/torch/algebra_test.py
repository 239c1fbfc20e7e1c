"""Libraries whose work space is asked for before the work: linear algebra, Fourier transforms, sparse products."""

import warnings

import torch

from simulated import DEVICE, SimulatedTest, main


TYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
ONE_MATRIX = ("inv", "cholesky", "qr", "svd", "svdvals", "eigh", "eigvalsh", "eigvals", "lu", "lu_factor", "det", "slogdet",
              "pinv", "matrix_rank", "cond", "matrix_norm", "cholesky_ex", "inv_ex", "ldl_factor")
TWO_MATRICES = {
    "solve": torch.linalg.solve,
    "solve_triangular": lambda a, b: torch.linalg.solve_triangular(a, b, upper=False),
    "lstsq": torch.linalg.lstsq,
    "lu_solve": lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b),
    "ldl_solve": lambda a, b: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a), b),
    "cholesky_solve": lambda a, b: torch.cholesky_solve(b, a),
    "cholesky_inverse": lambda a, _: torch.cholesky_inverse(a),
    "householder_product": lambda a, _: torch.linalg.householder_product(*torch.geqrf(a)),
    "ormqr": lambda a, b: torch.ormqr(*torch.geqrf(a), b),
    "matrix_power": lambda a, _: torch.linalg.matrix_power(a, -3),
}


def first_of(result):
    return result if isinstance(result, torch.Tensor) else result[0]


class FamilyTest(SimulatedTest):
    """Every function of torch.linalg, in memory that nobody has written: its checks sum statuses by a kernel, which computes
    nothing, so they read what the memory held before."""

    def matrices(self, dtype, batch):
        torch.cuda.empty_cache()
        return torch.eye(8, dtype=dtype).expand(*batch, 8, 8).contiguous().to(DEVICE)

    def each(self):
        for dtype in TYPES:
            for batch in ((), (3,)):
                yield dtype, batch

    def test_functions_of_one_matrix(self):
        for dtype, batch in self.each():
            for name in ONE_MATRIX:
                with self.subTest(name=name, dtype=dtype, batch=batch):
                    result = first_of(getattr(torch.linalg, name)(self.matrices(dtype, batch)))
                    self.assertEqual((result.device.type, result.shape[:len(batch)]), (DEVICE, batch))

    def test_functions_of_two_matrices(self):
        for dtype, batch in self.each():
            for name, function in TWO_MATRICES.items():
                with self.subTest(name=name, dtype=dtype, batch=batch):
                    matrices = self.matrices(dtype, batch)
                    self.assertEqual(first_of(function(matrices, matrices)).shape, matrices.shape)

    def test_shapes_that_are_not_square(self):
        for dtype, batch in self.each():
            for rows, columns in ((9, 5), (5, 9), (80, 40)):
                with self.subTest(dtype=dtype, batch=batch, rows=rows, columns=columns):
                    torch.cuda.empty_cache()
                    matrix = torch.empty(*batch, rows, columns, dtype=dtype, device=DEVICE)
                    u, values, v = torch.linalg.svd(matrix, full_matrices=True)
                    self.assertEqual((u.shape[-1], values.shape[-1], v.shape[-1]), (rows, min(rows, columns), columns))
                    q, r = torch.linalg.qr(matrix, mode="complete")
                    self.assertEqual((q.shape[-1], r.shape[-2:]), (rows, (rows, columns)))

    def test_every_driver_of_singular_values(self):
        for dtype, batch in self.each():
            for driver in ("gesvd", "gesvdj", "gesvda"):
                with self.subTest(dtype=dtype, batch=batch, driver=driver):
                    torch.cuda.empty_cache()
                    matrix = torch.empty(*batch, 9, 5, dtype=dtype, device=DEVICE)
                    self.assertEqual(torch.linalg.svd(matrix, driver=driver, full_matrices=False).U.shape, matrix.shape)

    def test_gradients(self):
        for dtype, batch in self.each():
            for name in ("inv", "cholesky", "qr", "svdvals", "eigvalsh", "det", "pinv"):
                with self.subTest(name=name, dtype=dtype, batch=batch):
                    matrices = self.matrices(dtype, batch).requires_grad_()
                    first_of(getattr(torch.linalg, name)(matrices)).abs().sum().backward()
                    self.assertEqual(matrices.grad.shape, matrices.shape)

    def test_statuses_are_zero_in_dirty_memory(self):
        for dtype, batch in self.each():
            for name in ("cholesky_ex", "inv_ex", "lu_factor_ex", "ldl_factor_ex"):
                with self.subTest(name=name, dtype=dtype, batch=batch):
                    matrices = self.matrices(dtype, batch)
                    dirt = [torch.full((512,), 255, dtype=torch.uint8).to(DEVICE) for _ in range(64)]
                    del dirt
                    self.assertEqual(getattr(torch.linalg, name)(matrices).info.cpu().unique().tolist(), [0])

    def test_work_space_grows_with_the_matrix(self):
        def peak(size):
            matrix = torch.empty(size, size, device=DEVICE)
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            torch.linalg.eigh(matrix)
            return torch.cuda.max_memory_allocated() - before

        torch.cuda.empty_cache()
        # Vectors take the size of the matrix, and the method two more.
        self.assertGreater(peak(1024), 3 * 4 * 1024 ** 2)
        self.assertLess(peak(1024), 8 * 4 * 1024 ** 2)


class AlgebraTest(SimulatedTest):
    def setUp(self):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def tearDown(self):
        self.assertLess(torch.cuda.max_memory_allocated(), 256 << 20)
        super().tearDown()

    def test_decompositions_of_one_matrix(self):
        for dtype in (torch.float32, torch.float64, torch.complex64):
            matrix = torch.eye(16, dtype=dtype).to(DEVICE)
            for name in ("inv", "cholesky", "qr", "svd", "eigh", "lu_factor", "eigvalsh", "svdvals", "det"):
                with self.subTest(name=name, dtype=dtype):
                    result = getattr(torch.linalg, name)(matrix)
                    first = result if isinstance(result, torch.Tensor) else result[0]
                    self.assertEqual(first.device.type, DEVICE)

    def test_decompositions_of_a_batch(self):
        matrices = torch.eye(16).expand(5, 16, 16).contiguous().to(DEVICE)
        for name in ("inv", "cholesky", "qr", "svd", "eigh"):
            with self.subTest(name=name):
                result = getattr(torch.linalg, name)(matrices)
                first = result if isinstance(result, torch.Tensor) else result[0]
                self.assertEqual(first.shape, (5, 16) if name == "eigh" else (5, 16, 16))

    def test_a_solver_writes_its_status_over_dirty_memory(self):
        # Only the status itself is looked at: the checks of cholesky() and inv() sum it by a kernel, which computes nothing.
        matrix = torch.eye(16).to(DEVICE)
        for name in ("cholesky_ex", "inv_ex", "lu_factor_ex"):
            with self.subTest(name=name):
                torch.full((1 << 20,), 255, dtype=torch.uint8).to(DEVICE)
                self.assertEqual(getattr(torch.linalg, name)(matrix).info.item(), 0)

    def test_solving(self):
        matrix = torch.eye(32).to(DEVICE)
        right = torch.randn(32, 4, device=DEVICE)
        self.assertEqual(torch.linalg.solve(matrix, right).shape, (32, 4))
        self.assertEqual(torch.linalg.solve_triangular(matrix, right, upper=True).shape, (32, 4))
        self.assertEqual(torch.linalg.lstsq(matrix, right).solution.shape, (32, 4))
        self.assertEqual(torch.cholesky_solve(right, matrix).shape, (32, 4))

    def test_products(self):
        matrix = torch.randn(8, 64, 64, device=DEVICE)
        self.assertEqual(torch.bmm(matrix, matrix).shape, (8, 64, 64))
        self.assertEqual(torch.dot(matrix.flatten(), matrix.flatten()).shape, ())
        self.assertEqual(torch.mv(matrix[0], matrix[0, 0]).shape, (64,))
        half = matrix[0].half()
        self.assertEqual(torch.addmm(half[0], half, half).shape, (64, 64))

    def test_fourier_transforms(self):
        self.assertEqual(torch.fft.rfft(torch.randn(8, 64, device=DEVICE)).shape, (8, 33))
        self.assertEqual(torch.fft.irfft(torch.fft.rfft(torch.randn(8, 64, device=DEVICE))).shape, (8, 64))
        self.assertEqual(torch.stft(torch.randn(4096, device=DEVICE), 256, return_complex=True,
                                    window=torch.ones(256, device=DEVICE)).shape, (129, 65))
        self.assertEqual(torch.fft.fftn(torch.randn(4, 4, 8, 8, device=DEVICE, dtype=torch.complex128)).shape, (4, 4, 8, 8))
        self.assertEqual(torch.fft.fft2(torch.randn(8, 16, 16, device=DEVICE)).shape, (8, 16, 16))

    def test_sparse_products(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sparse = torch.eye(16).to_sparse_csr().to(DEVICE)
        self.assertEqual((sparse @ torch.randn(16, 4, device=DEVICE)).shape, (16, 4))
        self.assertEqual((sparse @ torch.randn(16, device=DEVICE)).shape, (16,))
        product = sparse @ sparse
        # As many entries as meet on average: which ones do is data.
        self.assertEqual((product.shape, product.values().shape), ((16, 16), (16,)))
        self.assertEqual((sparse + torch.ones(16, 16).to_sparse_csr().to(DEVICE)).values().shape, (16 + 256,))
        self.assertEqual(torch.triangular_solve(torch.randn(16, 4, device=DEVICE), sparse).solution.shape, (16, 4))
        self.assertEqual(torch.sparse.sampled_addmm(sparse, *torch.randn(2, 16, 16, device=DEVICE)).shape, (16, 16))
        blocks = torch.eye(16).to_sparse_bsr((4, 4)).to(DEVICE)
        self.assertEqual((blocks @ torch.randn(16, 4, device=DEVICE)).shape, (16, 4))

    def test_code_compiled_at_run_time(self):
        code = "template <typename T> T plus_one(T x) { return x + 1; }"
        plus_one = torch.cuda.jiterator._create_jit_fn(code)
        self.assertEqual(plus_one(torch.ones(4, device=DEVICE)).shape, (4,))


main()
